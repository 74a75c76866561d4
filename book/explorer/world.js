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
    }

    /* A squared distance is a sum of whole numbers, hence exact. */
    square(x, y) {
      const { dimensions: d, vectors } = this;
      let sum = 0;
      for (let i = x * d, j = y * d; i < (x + 1) * d; i++, j++) {
        const difference = vectors[i] - vectors[j];
        sum += difference * difference;
      }
      return sum;
    }

    /* Those of all pairs, once: mechanisms over the whole list need them again at every epsilon. */
    tabulate() {
      if (this.squares) return;
      this.squares = new Int32Array(this.size * this.size);
      for (let x = 0; x < this.size; x++) {
        for (let y = 0; y < x; y++) {
          this.squares[x * this.size + y] = this.squares[y * this.size + x] = this.square(x, y);
        }
      }
    }

    distance(x, y) {
      return this.step * Math.sqrt(this.squares ? this.squares[x * this.size + y] : this.square(x, y));
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
        vectors: Array.from(numbers).flatMap((number) => Array.from(this.vectors.slice(number * d, (number + 1) * d))),
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
      vectors: Int8Array.from(data.vectors),
      counts: data.counts,
      stop: data.stop,
      groups: data.groups,
      sensitive: data.sensitive,
    });

  /* textsan.text.vocabulary.tokenize, of which only tokens with a letter or a digit are kept. */
  const L = "[\\p{L}]", W = "[\\p{L}\\p{N}]";
  const TOKEN = new RegExp(
    `\\p{Nd}+(?:[.,:]\\p{Nd}+)*|n't(?!${W}|_)|'(?:s|re|ve|ll|d|m)(?!${W}|_)|${L}+?(?=n't(?!${W}|_))` +
      `|${L}(?:\\.${L})+\\.?|${W}+(?:-${W}+)*`,
    "gu",
  );
  T.tokenize = (text) => text.toLowerCase().replaceAll("\u2019", "'").match(TOKEN) ?? [];

  /* A uniform number in [0, 1) of 53 bits from the browser's secure generator: what a sanitizer needs. */
  T.secureUniform = () => {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2));
    return ((high >>> 5) * 67108864 + (low >>> 6)) / 9007199254740992;
  };

  /* Repeatable ones for curves, which should not tremble while one looks at them (mulberry32). */
  T.seededUniform = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
})((globalThis.textsanExplorer ??= {}));
