/* The mechanisms by their names in the registry: each is its channel, entry(x, y) = Pr(y | x).

   Released words are numbers as written ones are; `size` is the full stop that erasure writes. */
(function (T) {
  "use strict";

  class Mechanism {
    /* entry: Pr(y | x); best(y, prior): the largest prior[x] Pr(y | x); replacements: what a word that is not
       listed becomes, evenly; kept: words released as they are; attacked: the words that are protected, else all
       that are not kept. Lists hold 0 or 1 a word. */
    constructor(world, entry, best, { replacements = null, kept = null, attacked = null } = {}) {
      this.best = best;
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

    /* Kept, for the same word is often released again; but not by the thousand, for memory. */
    column(y) {
      if (!this.columns.has(y)) {
        if (this.columns.size >= 500) this.columns.clear();
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

  const about = (name) => T.data.mechanisms.find((one) => one.name === name);

  /* Beyond gamma all words are as likely; beta bounds the chance that one of them is released. */
  function cutoff(name, size, epsilon, beta = 0.001) {
    if (name !== "tem") return Infinity;
    const others = Math.max(size - 1, 1);
    return epsilon ? Math.max(0, (2 / epsilon) * Math.log(((1 - beta) * others) / beta)) : Infinity;
  }

  /* For each word the sum of its weights exp(-epsilon d / 2) with all outputs, at all values of the slider at once:
     each pair is met once, and its weights at these values are the powers of one. Nearest is the least distance of
     each word to another. A table of all distances would be too large for a page. */
  class Sums {
    constructor(world, name) {
      Object.assign(this, about(name));
      this.world = world;
      this.values = Math.round((this.max - this.min) / this.step) + 1;
      this.isOutput = Uint8Array.from(world.words, (_, y) => (name === "santext+" ? world.sensitive[y] : 1));
      this.floors = Float64Array.from({ length: this.values }, (_, k) =>
        Math.exp((-this.epsilon(k) / 2) * cutoff(name, world.size, this.epsilon(k)) || 0),
      );
      this.table = new Float64Array(world.size * this.values);
      this.nearest = new Float64Array(world.size).fill(Infinity);
      this.done = 0; // words that have met all before them
    }

    epsilon(k) {
      return this.min + k * this.step;
    }

    get share() {
      return (this.done / this.world.size) ** 2;
    }

    /* Goes on for some milliseconds. */
    work(milliseconds) {
      const end = Date.now() + milliseconds;
      while (this.done < this.world.size && Date.now() < end) this.add(this.done++);
      return this;
    }

    add(x) {
      const { world, values, table, floors, isOutput, nearest } = this, half = -this.step / 2;
      for (let y = 0; y < x; y++) {
        const distance = world.distance(x, y), factor = Math.exp(half * distance);
        if (distance < nearest[x]) nearest[x] = distance;
        if (distance < nearest[y]) nearest[y] = distance;
        const mine = isOutput[y], yours = isOutput[x];
        if (!mine && !yours) continue;
        let power = 1, i = x * values, j = y * values;
        for (let k = 0; k < values; k++) {
          const weight = power > floors[k] ? power : floors[k];
          table[i++] += mine * weight;
          table[j++] += yours * weight;
          power *= factor;
        }
      }
      for (let k = 0; k < values; k++) table[x * values + k] += isOutput[x];
    }

    /* Of all words at one value of the slider. */
    at(epsilon) {
      this.work(Infinity);
      const k = Math.round((epsilon - this.min) / this.step);
      if (Math.abs(this.epsilon(k) - epsilon) > 1e-9 || k < 0 || k >= this.values) throw new RangeError(`${epsilon} is no value of the slider`);
      return Float64Array.from(this.world.words, (_, x) => this.table[x * this.values + k]);
    }
  }

  /* The sums of a mechanism over a world, made once; null for one that needs none. */
  T.sums = (world, name) => {
    if (!["santext", "santext+", "tem"].includes(name)) return null;
    world.sums ??= {};
    return (world.sums[name] ??= new Sums(world, name));
  };

  /* Pr(y | x) = weight(x, y) / sum(x): SanText, TEM, and SanText+'s sensitive words. */
  function exponential(world, name, epsilon) {
    const of = T.sums(world, name), sums = of.at(epsilon), gamma = cutoff(name, world.size, epsilon);
    const weight = (distance) => Math.exp((-epsilon / 2) * Math.min(distance, gamma));
    const entry = (x, y) => weight(world.distance(x, y)) / sums[x];
    let order = null, scale = null, ordered = null;
    /* Words in falling order of the most they can give, until the rest cannot give more. */
    const best = (y, prior) => {
      if (ordered !== prior) {
        ordered = prior;
        scale = prior.map((p, x) => p / sums[x]);
        order = Uint32Array.from(scale.keys()).sort((a, b) => scale[b] - scale[a]);
      }
      const most = weight(of.nearest[y]);
      let found = scale[y];
      for (const x of order) {
        if (scale[x] * most <= found) break;
        if (x !== y) found = Math.max(found, scale[x] * weight(world.distance(x, y)));
      }
      return found;
    };
    return { entry, best };
  }

  function santext(world, name, epsilon) {
    const { entry, best } = exponential(world, name, epsilon), n = world.size;
    return new Mechanism(world, (x, y) => (y < n ? entry(x, y) : 0), (y, prior) => (y < n ? best(y, prior) : 0));
  }

  /* Words that are not sensitive stay with probability 1 - p, p = 0.3, and are never what another becomes. */
  function santextPlus(world, epsilon, p = 0.3) {
    const among = exponential(world, "santext+", epsilon);
    const entry = (x, y) => {
      if (y === world.size) return 0;
      if (!world.sensitive[y]) return x === y ? 1 - p : 0;
      return (world.sensitive[x] ? 1 : p) * among.entry(x, y);
    };
    /* Of attacked words alone, which are the sensitive ones. */
    const best = (y, prior) => (world.sensitive[y] ? among.best(y, prior) : 0);
    const replacements = world.words.map((_, y) => y).filter((y) => world.sensitive[y]);
    return new Mechanism(world, entry, best, { replacements, attacked: world.sensitive });
  }

  /* Within a group; distances are scaled so that the group's largest is 1. */
  function custext(world, epsilon, kept = null) {
    const members = [];
    world.groups.forEach((group, x) => (members[group] ??= []).push(x));
    world.largest ??= members.map((group) => Math.max(...group.flatMap((x) => group.map((y) => world.distance(x, y)))));
    const weight = (x, y) => Math.exp((-epsilon / 2) * (world.distance(x, y) / (world.largest[world.groups[x]] || 1)));
    const sums = Float64Array.from(world.groups, (group, x) => members[group].reduce((sum, y) => sum + weight(x, y), 0));
    const entry = (x, y) => (y < world.size && world.groups[x] === world.groups[y] ? weight(x, y) / sums[x] : 0);
    const best = (y, prior) =>
      y < world.size ? members[world.groups[y]].reduce((most, x) => Math.max(most, prior[x] * entry(x, y)), 0) : 0;
    return new Mechanism(world, entry, best, { kept });
  }

  function erasure(world, q) {
    const stop = world.size;
    const best = (y, prior) => (y === stop ? (1 - q) * prior.reduce((a, b) => Math.max(a, b), 0) : q * prior[y]);
    return new Mechanism(world, (x, y) => (y === stop ? 1 - q : x === y ? q : 0), best, { replacements: [stop] });
  }

  T.MECHANISMS = {
    santext: (world, epsilon) => santext(world, "santext", epsilon),
    "santext+": (world, epsilon) => santextPlus(world, epsilon),
    custext: (world, epsilon) => custext(world, epsilon),
    "custext+": (world, epsilon) => custext(world, epsilon, world.stop),
    tem: (world, epsilon) => santext(world, "tem", epsilon),
    erasure,
  };
})((globalThis.textsanExplorer ??= {}));
