/* The world of the explorer: listed words, their vectors and counts. Made by textsan_book/chapters/explorer.py.

   Words are numbers: 0 .. size - 1 are listed, `size` is every other word ("…"). Scripts are classic ones with one
   global name, for a page from the file system may not import modules. */
(function (T) {
  "use strict";

  /* A world of some words: of all, or of three that are looked at by themselves. */
  class World {
    constructor(parts) {
      Object.assign(this, parts);
      this.size = this.words.length;
      this.index = new Map(this.words.map((word, number) => [word, number]));
      this.dimensions = this.vectors.length / this.size;
      this.squares = Float64Array.from(this.words, (_, x) => this.product(x, x));
    }

    product(x, y) {
      const { dimensions, vectors } = this;
      let sum = 0;
      for (let k = 0, i = x * dimensions, j = y * dimensions; k < dimensions; k++) sum += vectors[i + k] * vectors[j + k];
      return sum;
    }

    /* A sum of whole numbers, hence exact. */
    square(x, y) {
      return this.squares[x] + this.squares[y] - 2 * this.product(x, y);
    }

    distance(x, y) {
      return this.step * Math.sqrt(this.square(x, y));
    }

    /* Numbers of the words of a text; words that are not listed are `size`. */
    numbers(tokens) {
      return tokens.map((token) => this.index.get(token) ?? this.size);
    }

    /* Some of the words as a world of its own: one CusText group, and its rarer part sensitive (SanText+'s rule). */
    restrict(numbers) {
      const pick = (values) => Array.from(numbers, (number) => values[number]);
      const counts = pick(this.counts);
      const rareFirst = counts.map((_, i) => i).sort((a, b) => counts[a] - counts[b] || b - a);
      const rare = new Set(rareFirst.slice(0, Math.floor(0.9 * counts.length)));
      const d = this.dimensions;
      return new World({
        words: pick(this.words),
        step: this.step,
        vectors: Int8Array.from(Array.from(numbers).flatMap((number) => Array.from(this.vectors.slice(number * d, (number + 1) * d)))),
        counts,
        stop: pick(this.stop),
        groups: counts.map(() => 0),
        sensitive: counts.map((_, i) => Number(rare.has(i))),
      });
    }
  }

  T.world = (data) =>
    new World({
      words: data.words,
      step: data.step,
      vectors: bytes(data.vectors),
      counts: data.counts,
      stop: data.stop,
      groups: data.groups,
      sensitive: data.sensitive,
    });

  /* Numbers of one byte from base64, by hand: an engine without a page has no atob. */
  function bytes(text) {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const digits = new Uint8Array(128);
    Array.from(alphabet).forEach((letter, digit) => (digits[letter.charCodeAt(0)] = digit));
    const size = Math.floor((text.replace(/=+$/, "").length * 3) / 4);
    const made = new Int8Array(size);
    for (let i = 0, j = 0; j < size; i += 4) {
      const four = [0, 1, 2, 3].reduce((sum, k) => sum * 64 + digits[text.charCodeAt(i + k)], 0); // "=" is 0
      for (let shift = 16; shift >= 0 && j < size; shift -= 8) made[j++] = four >> shift;
    }
    return made;
  }

  /* textsan.text.vocabulary.tokenize, of which only tokens with a letter or a digit are kept. */
  const W = "[\\p{L}\\p{N}]", L = "[\\p{L}\\p{Nl}\\p{No}]", S = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const TOKEN = new RegExp(
    `(?:https?://|www\\.)[^${S}<>"]*${W}/?|[\\p{L}\\p{N}_.+\\-]+@[\\p{L}\\p{N}_\\-]+(?:\\.[\\p{L}\\p{N}_\\-]+)+` +
      `|\\p{Nd}+(?:[.,:]\\p{Nd}+)*|n't(?!${W}|_)|'(?:s|re|ve|ll|d|m)(?!${W}|_)|${L}+?(?=n't(?!${W}|_))` +
      `|${L}(?:\\.${L}(?!${W}))+\\.?|${W}+(?:-${W}+)*`,
    "gu",
  );
  const HIDDEN = new RegExp(
    `(?![${S}])[\\p{Cf}\\p{Cc}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]`,
    "gu",
  );
  const MARK = new RegExp(`(?![${S}])[\\p{M}\\p{C}]`, "gu");
  T.normalize = (text) => text.replace(HIDDEN, "").normalize("NFC").replace(/\u2019/g, "'").replace(/[\u2010\u2011]/g, "-");
  T.tokenize = (text) => {
    const lower = T.normalize(text).toLowerCase().normalize("NFC");
    // Marks that no letter takes up are no place to cut: they count as letters.
    const whole = lower.replace(MARK, (mark) => "x".repeat(mark.length));
    const tokens = Array.from(whole.matchAll(TOKEN), ({ 0: found, index }) => lower.slice(index, index + found.length));
    return tokens.filter((token) => /[\p{L}\p{N}]/u.test(token));
  };

  /* A uniform number in [0, 1) of 53 bits from the browser's secure generator: what a sanitizer needs. */
  T.secureUniform = () => {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2));
    return ((high >>> 5) * 67108864 + (low >>> 6)) / 9007199254740992;
  };

  /* Repeatable ones for the opening draw, and for curves, which should not tremble (mulberry32). */
  T.seededUniform = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
})((globalThis.textsanExplorer ??= {}));
