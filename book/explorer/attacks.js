/* What an attacker makes of a release: without context, from the whole sentence, and of which document it is. */
(function (T) {
  "use strict";

  const total = (values) => values.reduce((sum, value) => sum + value, 0);

  function normalised(values) {
    const sum = total(values);
    return sum > 0 ? values.map((value) => value / sum) : values;
  }

  /* The place of the largest value, the earliest of equal ones; -1 if all are 0. */
  function mode(values) {
    let best = -1;
    for (let i = 0; i < values.length; i++) if (values[i] > (best < 0 ? 0 : values[best])) best = i;
    return best;
  }

  /* How likely each attacked word is before anything is released: add-one smoothed counts (Tong et al. 2024). */
  T.prior = (mechanism) =>
    normalised(Float64Array.from(mechanism.world.counts, (count, x) => (mechanism.attacks(x) ? count + 1 : 0)));

  /* Pr(x | y) without context (Theorem 1). */
  T.contextFree = (mechanism, prior, y) => normalised(mechanism.column(y).map((p, x) => p * prior[x]));

  /* V(X), and V(X | Y) = sum over y of max over x of Pr(x) Pr(y | x): how often the best guess is right. */
  T.vulnerability = (mechanism, prior) => {
    let posterior = 0;
    for (let y = 0; y <= mechanism.world.size; y++) posterior += mechanism.best(y, prior);
    return { blind: prior.reduce((most, p) => Math.max(most, p), 0), posterior };
  };

  /* A Markov source of words: bigrams with Kneser and Ney's interpolated smoothing, as MarkovModel.fit makes it.
     Pr(x' | x) = seen[x][x'] + weight[x] backoff[x']; the state after the listed words is all others. */
  class Source {
    constructor(data) {
      const n = data.words.length + 1;
      const rows = data.followers; // one after the other in two arrays: who follows, how likely
      this.starts = new Uint32Array(n + 2);
      rows.forEach((row, x) => (this.starts[x + 1] = this.starts[x] + row.length / 2));
      const left = new Float64Array(n); // in how many different neighbourhoods a word was seen
      const counts = [];
      for (const row of rows) {
        for (let i = 0; i < row.length; i += 2) {
          left[row[i]] += 1;
          counts.push(row[i + 1]);
        }
      }
      const kinds = total(left), lower = discount(left), higher = discount(counts);
      const seenOnce = left.filter((value) => value > 0).length;
      this.size = n;
      this.backoff = left.map((value) => Math.max(value - lower, 0) / kinds + (lower * seenOnce) / kinds / n);
      this.followers = new Uint32Array(counts.length);
      this.seen = new Float64Array(counts.length);
      this.weight = Float64Array.from(rows, (row, x) => {
        const sum = total(row.filter((_, i) => i % 2));
        for (let i = 0, place = this.starts[x]; i < row.length; i += 2, place++) {
          this.followers[place] = row[i];
          this.seen[place] = (row[i + 1] - higher) / sum;
        }
        return sum > 0 ? (higher * (row.length / 2)) / sum : 1;
      });
      const start = new Float64Array(n + 1);
      start[n] = 1;
      this.initial = this.ahead(start);
    }

    /* Where one step leads from these weights of states. */
    ahead(weights) {
      const next = new Float64Array(this.size);
      let left = 0;
      weights.forEach((weight, x) => {
        if (weight === 0) return;
        for (let i = this.starts[x]; i < this.starts[x + 1]; i++) next[this.followers[i]] += weight * this.seen[i];
        left += weight * this.weight[x];
      });
      return next.map((value, x) => value + left * this.backoff[x]);
    }

    /* What a message says one step earlier. */
    back(message, wanted) {
      const shared = message.reduce((sum, value, x) => sum + value * this.backoff[x], 0);
      return message.map((_, x) => {
        if (wanted[x] === 0) return 0; // a state that cannot be there
        let sum = this.weight[x] * shared;
        for (let i = this.starts[x]; i < this.starts[x + 1]; i++) sum += this.seen[i] * message[this.followers[i]];
        return sum;
      });
    }
  }

  function discount(counts) {
    let once = 0, twice = 0;
    for (const count of counts) {
      if (count === 1) once++;
      else if (count === 2) twice++;
    }
    return (once + 0.5) / (once + 2 * twice + 1);
  }

  T.source = (data) => new Source(data);

  /* Pr(x_t | y_1 .. y_n) at every place t, over the listed words: forward-backward (Rabiner 1989). */
  T.forwardBackward = (mechanism, source, released) => {
    const columns = new Map();
    const emission = (y) => {
      if (!columns.has(y)) {
        const column = new Float64Array(source.size);
        column.set(mechanism.column(y));
        columns.set(y, column);
      }
      return columns.get(y);
    };
    const emissions = released.map(emission);
    const product = (a, b) => normalised(a.map((value, x) => value * b[x]));
    const forward = [];
    emissions.forEach((likely, t) => {
      forward.push(product(t ? source.ahead(forward[t - 1]) : source.initial, likely));
    });
    let backward = null;
    for (let t = released.length - 1; t >= 0; t--) {
      if (backward) {
        const message = emissions[t + 1].map((value, x) => value * backward[x]);
        backward = normalised(source.back(message, forward[t]));
        forward[t] = product(forward[t], backward);
      } else {
        backward = new Float64Array(source.size).fill(1);
      }
    }
    return forward.map((posterior) => posterior.slice(0, mechanism.world.size));
  };

  /* A posterior of who is told that a protected word stood there. */
  T.told = (mechanism, posterior) => normalised(posterior.map((p, x) => (mechanism.attacks(x) ? p : 0)));

  /* The likeliest protected word of a posterior; the released one where there is none. */
  T.guess = (mechanism, posterior, y) => {
    const best = mode(T.told(mechanism, posterior));
    return best < 0 ? y : best;
  };

  /* Sentences that a release of these tokens could be mistaken for, as textsan_book.chapters.explorer.rivals has them:
     those of this book, cut to as many words; first those whose stop words agree at most places. */
  T.rivals = (world, tokens) => {
    T.prose ??= [...T.data.sentences, ...T.data.prose].map(T.tokenize);
    const stops = (T.stops ??= new Set(T.data.words.filter((_, x) => T.data.stop[x])));
    const shape = (token) => (stops.has(token) ? token : null);
    const mine = tokens.map(shape);
    const cut = new Map(); // by its words, for no two are the same
    for (const words of T.prose) {
      const rival = words.slice(0, tokens.length);
      if (rival.length === tokens.length) cut.set(rival.join(" "), rival);
    }
    cut.delete(tokens.join(" "));
    const ranked = Array.from(cut.values(), (words) => ({
      words,
      agrees: words.filter((token, i) => shape(token) === mine[i]).length,
    })).sort((a, b) => b.agrees - a.agrees);
    return ranked.slice(0, T.data.rivals).map(({ words }) => ({ words, numbers: world.numbers(words) }));
  };

  /* How many rivals have the same kept words at the same places: whoever looks at nothing else cannot tell these. */
  T.sameKept = (mechanism, written, rivals) =>
    rivals.filter(({ numbers }) =>
      numbers.every((x, t) => x === written[t] || !(mechanism.keeps(x) || mechanism.keeps(written[t]))),
    ).length;

  /* log Pr(release | candidate) of candidates as long as it. */
  T.logLikelihoods = (mechanism, released, candidates) => {
    const known = released.map(() => new Map());
    const log = (t, x) => {
      if (!known[t].has(x)) known[t].set(x, Math.log(mechanism.probability(x, released[t])));
      return known[t].get(x);
    };
    return candidates.map((candidate) => released.reduce((sum, _, t) => sum + log(t, candidate[t]), 0));
  };

  /* Where the original stands among the others: how many are likelier, how many as likely. */
  T.rank = (own, others) => ({
    above: others.filter((score) => score > own + 1e-9).length,
    tied: others.filter((score) => Math.abs(score - own) <= 1e-9).length,
  });
})((globalThis.textsanExplorer ??= {}));
