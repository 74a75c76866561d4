/* The mechanisms by their names in the registry: each is its channel, entry(x, y) = Pr(y | x).

   Released words are numbers as written ones are; `size` is the full stop that erasure writes. */
(function (T) {
  "use strict";

  class Mechanism {
    /* entry: Pr(y | x); replacements: what a word that is not listed becomes, evenly; kept: words released as
       they are; attacked: the words that are protected, else all that are not kept. Lists hold 0 or 1 a word. */
    constructor(world, entry, { replacements = null, kept = null, attacked = null } = {}) {
      this.world = world;
      this.entry = kept ? (x, y) => (kept[x] ? Number(x === y) : entry(x, y)) : entry;
      this.replacements = replacements ?? Array.from(world.words, (_, y) => y);
      this.kept = kept;
      this.attacked = attacked;
      this.columns = new Map();
    }

    /* Whether a word is listed and protected: the attacker is told where such words stood. */
    attacks(x) {
      return x < this.world.size && Boolean(this.attacked ? this.attacked[x] : !this.keeps(x));
    }

    keeps(x) {
      return x < this.world.size && Boolean(this.kept && this.kept[x]);
    }

    row(x) {
      return Float64Array.from({ length: this.world.size + 1 }, (_, y) => this.entry(x, y));
    }

    /* Kept, for the same word is often released again. */
    column(y) {
      if (!this.columns.has(y)) {
        this.columns.set(y, Float64Array.from({ length: this.world.size }, (_, x) => this.entry(x, y)));
      }
      return this.columns.get(y);
    }

    /* Pr(y | x) for any written word, also one that is not listed. */
    probability(x, y) {
      if (x < this.world.size) return this.entry(x, y);
      this._even ??= new Set(this.replacements);
      return this._even.has(y) ? 1 / this.replacements.length : 0;
    }

    /* What x becomes at a uniform number u. */
    draw(x, u) {
      if (x === this.world.size) return this.replacements[Math.floor(u * this.replacements.length)];
      if (this.keeps(x)) return x;
      let last = x;
      for (let y = 0, below = 0; y <= this.world.size; y++) {
        const p = this.entry(x, y);
        below += p;
        if (p > 0) last = y;
        if (u < below) return y;
      }
      return last; // u lies in what rounding has left of 1
    }

    sanitize(written, uniform) {
      return written.map((x) => this.draw(x, uniform()));
    }

    name(y) {
      return y === this.world.size ? "." : this.world.words[y];
    }
  }

  /* For each word the sum of its weights with all outputs; the weight of a pair is the same either way. */
  function totals(world, weight, isOutput) {
    world.tabulate();
    const sums = new Float64Array(world.size);
    for (let x = 0; x < world.size; x++) {
      for (let y = 0; y <= x; y++) {
        const w = weight(x, y);
        if (isOutput(y)) sums[x] += w;
        if (y < x && isOutput(x)) sums[y] += w;
      }
    }
    return sums;
  }

  function santext(world, epsilon, cutoff = Infinity) {
    const weight = (x, y) => Math.exp((-epsilon / 2) * Math.min(world.distance(x, y), cutoff));
    const sums = totals(world, weight, () => true);
    return new Mechanism(world, (x, y) => (y < world.size ? weight(x, y) / sums[x] : 0));
  }

  /* Words that are not sensitive stay with probability 1 - p, p = 0.3, and are never what another becomes. */
  function santextPlus(world, epsilon, p = 0.3) {
    const weight = (x, y) => Math.exp((-epsilon / 2) * world.distance(x, y));
    const sums = totals(world, weight, (y) => world.sensitive[y]);
    const entry = (x, y) => {
      if (y === world.size) return 0;
      if (!world.sensitive[y]) return x === y ? 1 - p : 0;
      return ((world.sensitive[x] ? 1 : p) * weight(x, y)) / sums[x];
    };
    const replacements = world.words.map((_, y) => y).filter((y) => world.sensitive[y]);
    return new Mechanism(world, entry, { replacements, attacked: world.sensitive });
  }

  /* Within a group; distances are scaled so that the group's largest is 1. */
  function custext(world, epsilon, kept = null) {
    const members = [];
    world.groups.forEach((group, x) => (members[group] ??= []).push(x));
    const largest = members.map((group) => Math.max(...group.flatMap((x) => group.map((y) => world.distance(x, y)))));
    const weight = (x, y) => Math.exp((-epsilon / 2) * (world.distance(x, y) / (largest[world.groups[x]] || 1)));
    const sums = Float64Array.from(world.groups, (group, x) => members[group].reduce((sum, y) => sum + weight(x, y), 0));
    const entry = (x, y) => (y < world.size && world.groups[x] === world.groups[y] ? weight(x, y) / sums[x] : 0);
    return new Mechanism(world, entry, { kept });
  }

  /* Beyond gamma all words are as likely; beta bounds the chance that one of them is released. */
  function tem(world, epsilon, beta = 0.001) {
    const others = Math.max(world.size - 1, 1);
    const gamma = epsilon ? Math.max(0, (2 / epsilon) * Math.log(((1 - beta) * others) / beta)) : Infinity;
    return santext(world, epsilon, gamma);
  }

  function erasure(world, q) {
    const stop = world.size;
    return new Mechanism(world, (x, y) => (y === stop ? 1 - q : x === y ? q : 0), { replacements: [stop] });
  }

  T.MECHANISMS = {
    santext,
    "santext+": santextPlus,
    custext: (world, epsilon) => custext(world, epsilon),
    "custext+": (world, epsilon) => custext(world, epsilon, world.stop),
    tem: (world, epsilon) => tem(world, epsilon),
    erasure,
  };
})((globalThis.textsanExplorer ??= {}));
