/* A sentence: written, released, and read word by word; the posterior of one word; the document named. */
(function (T) {
  "use strict";

  T.VIEWS ??= {};

  const BEST = 8; // words of a posterior that are shown
  const LISTED = 5; // candidates that are shown
  const MANY = 25; // draws at a press
  const ENOUGH = 10; // draws from which on shares are said

  const SEED = 1; // of the opening draw: the first
  const OFF = "replaced by noise, never attacked here: this says nothing of how safe it is";

  /* One draw of a sentence and all that the attacker makes of it. */
  T.read = (state, tokens, uniform) => {
    const { world, mechanism, prior, source } = state;
    const written = world.numbers(tokens);
    const released = mechanism.sanitize(written, uniform);
    const posteriors = T.forwardBackward(mechanism, source, released);
    const words = written.map((x, t) => {
      const y = released[t];
      const alone = T.contextFree(mechanism, prior, y);
      const together = mechanism.attacks(x) ? T.told(mechanism, posteriors[t]) : posteriors[t];
      const guesses = mechanism.attacks(x) ? [alone, together].map((p) => T.guess(mechanism, p, y)) : [null, null];
      return { token: tokens[t], x, y, alone, together, guesses };
    });
    const rivals = rivalsOf(world, tokens);
    const scores = T.logLikelihoods(mechanism, released, [written, ...rivals.map(({ numbers }) => numbers)]);
    return { words, rivals, scores, rank: T.rank(scores[0], scores.slice(1)), same: T.sameKept(mechanism, written, rivals) };
  };

  let latest = { sentence: null, rivals: [] }; // the same sentence is drawn again and again
  function rivalsOf(world, tokens) {
    const sentence = tokens.join(" ");
    if (latest.sentence !== sentence) latest = { sentence, rivals: tokens.length ? T.rivals(world, tokens) : [] };
    return latest.rivals;
  }

  /* How many of a draw's attacked words are unchanged, read without context, read from the whole sentence. */
  T.hits = ({ words, rank }) => {
    const attacked = words.filter(({ guesses }) => guesses[0] !== null);
    return {
      attacked: attacked.length,
      unchanged: attacked.filter(({ x, y }) => x === y).length,
      alone: attacked.filter(({ x, guesses }) => guesses[0] === x).length,
      together: attacked.filter(({ x, guesses }) => guesses[1] === x).length,
      named: rank.above ? 0 : 1 / (rank.tied + 1), // a random one of those that are as likely
    };
  };

  T.VIEWS.sentence = (state, { small }) => {
    let uniforms = [], reading = null, chosen = null, sums = null, setting = "", opening = true, whole = 0;

    const text = T.element("textarea", { class: "text", rows: 2, spellcheck: "false", input: typed });
    const ready = T.options(
      T.data.sentences.map((sentence, i) => [i, sentence]),
      () => {
        text.value = T.data.sentences[ready.value];
        typed();
      },
    );
    const again = T.element("button", { type: "button", class: "again", click: () => draw(1) }, "Draw again");
    const often = T.element("button", { type: "button", class: "often", click: () => draw(MANY) }, `${MANY} times`);
    const words = T.element("ol", { class: "words", "aria-label": "The words of the sentence" });
    const cut = T.element("p", { class: "warning cut", role: "status" }), off = T.element("p", { class: "warning off", role: "status" });
    const noise = T.element("p", { class: "hint noise" });
    const score = T.element("p", { class: "score" });
    const summary = T.said(), running = T.element("p", { class: "running" });
    const posterior = T.element("div", { class: "posterior" }), believed = T.said();
    const linked = T.element("div", { class: "linked" });

    function typed() {
      take();
      chosen = null;
      draw(1);
    }

    function take() {
      const tokens = T.tokenize(text.value);
      whole = tokens.length;
      state.tokens = tokens.slice(0, T.data.longest);
    }

    /* Fresh noise; when the slider moves it stays the same, so that what changes is due to the slider. */
    function draw(times) {
      opening = false;
      for (let i = 0; i < times; i++) {
        uniforms = state.tokens.map(T.secureUniform);
        read();
        count();
      }
      show();
    }

    const current = () => `${state.name} ${state.value} ${state.tokens.join(" ")}`;

    function read() {
      reading = T.read(state, state.tokens, nextOf(uniforms));
    }

    function count() {
      const now = current();
      if (now !== setting) sums = { draws: 0, attacked: 0, unchanged: 0, alone: 0, together: 0, named: 0 };
      setting = now;
      if (!state.tokens.length) return;
      sums.draws += 1;
      for (const [name, value] of Object.entries(T.hits(reading))) sums[name] += value;
    }

    function show() {
      words.replaceChildren(key(), ...reading.words.map(card));
      const hits = T.hits(reading), { above, tied } = reading.rank;
      const missing = reading.words.filter(({ x }) => x === state.world.size).map(({ token }) => `“${token}”`);
      cut.textContent = whole > state.tokens.length
        ? `Cut: your text has ${whole.toLocaleString("en")} words, and only the first ${state.tokens.length} are used here.`
        : "";
      off.textContent = missing.length ? `${missing.join(", ")}: not on the list: ${OFF}.` : "";
      noise.textContent = opening
        ? `The opening draw is fixed: seed ${SEED}, the first, the same for everybody. “Draw again” takes fresh noise from this browser's secure generator.`
        : "Fresh noise from this browser's secure generator.";
      score.replaceChildren(
        ...(hits.attacked ? [T.element("strong", {}, `${hits.together} of ${hits.attacked} read`), ": protected words that were guessed right from the sentence"] : []),
      );
      summary.textContent = state.tokens.length
        ? `${hits.unchanged} of ${hits.attacked} released unchanged, ${hits.alone} guessed from each word, ${hits.together} from ` +
          `the sentence. Among ${reading.scores.length.toLocaleString("en")} candidates the sentence ranks ` +
          `${(above + 1).toLocaleString("en")}${tied ? `, as likely as ${tied} more` : ""}.`
        : "Type a sentence, or take one.";
      const drawn = `In ${sums.draws} ${sums.draws === 1 ? "draw" : "draws"} of this sentence at this setting`;
      const shares =
        `of 100 protected words: ${rate("unchanged")} unchanged, ${rate("alone")} guessed from each word, ` +
        `${rate("together")} from the sentence. Of 100 draws ${hundred(sums.named / sums.draws)} name the document; its length and its ` +
        `kept words alone name it in ${hundred(1 / (reading.same + 1))}.`;
      running.textContent = sums.draws
        ? `${drawn}${sums.draws < ENOUGH ? `; from ${ENOUGH} on shares are shown.` : `, ${shares}`}`
        : "";
      explain();
      if (!small) link();
    }

    const hundred = (share) => Math.round(100 * share).toString();
    const rate = (name) => (sums.attacked ? hundred(sums[name] / sums.attacked) : "–");

    /* What the lines of a word are. */
    function key() {
      const lines = ["written", "released", "guessed from each word", "guessed from the sentence"];
      return T.element("li", { class: "key", "aria-hidden": "true" }, lines.map((line) => T.element("span", {}, line)));
    }

    function card(word, place) {
      const { token, x, y, guesses } = word;
      const unlisted = x === state.world.size;
      const lines = guesses.map((guess) => (guess === null ? "·" : state.mechanism.name(guess)));
      const right = guesses.map((guess) => guess !== null && guess === x);
      const said = (i) => `${lines[i]}${right[i] ? ", right" : ""}`;
      const listed = unlisted ? `not on the list: ${OFF}` : "not protected";
      const read = guesses[0] === null ? listed : `guessed from the word as ${said(0)}; from the sentence as ${said(1)}`;
      if (unlisted) lines.splice(0, 2, "not on", "the list");
      const press = () => {
        chosen = chosen === place ? null : place;
        [...words.querySelectorAll("button")].forEach((one, i) => one.setAttribute("aria-pressed", i === chosen));
        explain();
      };
      return T.element(
        "li",
        { class: unlisted ? "unlisted" : "" },
        T.element(
          "button",
          { type: "button", "aria-pressed": chosen === place, "aria-description": `${token}: released as ${state.mechanism.name(y)}; ${read}`, click: press },
          T.element("span", {}, token),
          T.element("span", { class: x === y ? "released same" : "released" }, state.mechanism.name(y)),
          lines.map((line, i) => T.element("span", { class: right[i] ? "hit" : "miss" }, line)),
        ),
      );
    }

    /* The posterior of the chosen word beside its prior, and in words for those who listen. */
    function explain() {
      if (chosen === null || !reading.words[chosen]) {
        believed.textContent = "";
        posterior.replaceChildren(T.element("p", { class: "hint" }, "Choose a word to see what the attacker believes of it."));
        return;
      }
      const { token, y, x, alone, together, guesses } = reading.words[chosen];
      if (guesses[0] === null) {
        believed.textContent = `“${token}” is ${x === state.world.size ? `not on the list: ${OFF}` : "not protected here, and not attacked"}.`;
        posterior.replaceChildren();
        return;
      }
      const order = Array.from(together.keys()).sort((a, b) => together[b] - together[a]).slice(0, BEST);
      if (x < state.world.size && !order.includes(x)) order.push(x);
      const heads = ["word", "before", "from the word", "from the sentence"].map((head) => T.element("th", { scope: "col" }, head));
      const likeliest = [alone, together].map((p) => {
        const best = T.guess(state.mechanism, p, y);
        return `${state.mechanism.name(best)} (${T.percent(p[best] ?? 0)})`;
      });
      believed.textContent = `“${state.mechanism.name(y)}” was likeliest ${likeliest[0]} by the word, ${likeliest[1]} by the sentence.`;
      const cell = (p) => T.element("td", { style: `--p: ${p}` }, T.percent(p));
      const row = (w) =>
        T.element(
          "tr",
          { class: w === x ? "truth" : "" },
          T.element("th", { scope: "row" }, w === x ? `${state.world.words[w]} (written)` : state.world.words[w]),
          [state.prior[w], alone[w], together[w]].map(cell),
        );
      posterior.replaceChildren(
        T.element(
          "table",
          {},
          T.element("caption", {}, `What the attacker believes of “${state.mechanism.name(y)}”, released for “${token}”`),
          T.element("thead", {}, T.element("tr", {}, heads)),
          T.element("tbody", {}, order.map(row)),
        ),
      );
    }

    /* The likeliest candidates. */
    function link() {
      const scores = reading.scores;
      const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
      const weights = scores.map((score) => Math.exp(score - largest));
      const sum = weights.reduce((a, b) => a + b, 0);
      const possible = Array.from(scores.keys()).filter((i) => scores[i] > -Infinity);
      const order = possible.sort((a, b) => scores[b] - scores[a]).slice(0, LISTED);
      const line = (i) =>
        T.element(
          "li",
          { class: i ? "" : "truth" },
          `${(i ? reading.rivals[i - 1].words : state.tokens).join(" ")} `,
          T.element("span", { class: "number" }, T.percent(weights[i] / sum)),
        );
      linked.hidden = !state.tokens.length;
      const many = (n) => n.toLocaleString("en");
      linked.replaceChildren(
        T.element(
          "p",
          {},
          `Which document was it? Your sentence has ${many(scores.length - 1)} rivals: sentences of this book, cut to as many words, whose ` +
            `stop words are most like yours. ${many(possible.length)} of the ${many(scores.length)} candidates can have become this ` +
            "release; the likeliest, with their probabilities:",
        ),
        T.element("ol", {}, order.map(line)),
        T.element("p", { class: "hint" }, named()),
      );
    }

    /* What names it without any word that is replaced. */
    function named() {
      const { same } = reading, keeps = reading.words.filter(({ x }) => state.mechanism.keeps(x)).length;
      if (!keeps) return "No word is kept here, and all candidates have as many words: without the replaced words each is as likely.";
      return same
        ? `${keeps} kept words: ${same} rivals have the same ones at the same places, so these and the number of words alone name it in 1 of ${same + 1} cases.`
        : `${keeps} kept words name it alone, whatever ε is: no rival has the same ones at the same places.`;
    }

    text.value = T.data.sentences[0];
    take();
    uniforms = state.tokens.map(T.seededUniform(SEED));
    const element = T.element(
      "div",
      { class: "sentence" },
      T.labelled("Your sentence", text),
      T.labelled("or one of ours", ready),
      cut,
      T.element("div", { class: "buttons" }, again, often),
      noise,
      score,
      words,
      off,
      summary,
      running,
      believed,
      posterior,
      small ? null : linked,
    );
    return {
      element,
      /* Another setting: the same noise is read and counted anew. */
      changed() {
        if (current() === setting) return;
        read();
        count();
        show();
      },
    };
  };

  /* A generator of numbers that were drawn before. */
  function nextOf(numbers) {
    let i = 0;
    return () => numbers[i++];
  }
})((globalThis.textsanExplorer ??= {}));
