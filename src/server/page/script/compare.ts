/** Two pictures side by side on one scale. What is said about them is what the comparing endpoint says. */
export const COMPARE_PART = `
  const chosen = [];
  const NAMES = ['A', 'B'];

  function choose(item) {
    const at = chosen.indexOf(item);
    if (at >= 0) chosen.splice(at, 1);
    else {
      if (chosen.length === 2) chosen.shift();
      chosen.push(item);
    }
    drawComparison();
    if (chosen.length === 2) {
      void compareChosen();
      const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
      $('comparison').scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
    } else if (chosen.length === 1) announce('Choose a second picture to compare with ' + chosen[0].name + '.');
  }
  function unchoose(item) {
    const at = chosen.indexOf(item);
    if (at < 0) return;
    chosen.splice(at, 1);
    drawComparison();
    void compareChosen();
  }

  /** Comparisons by the two pictures, in the order in which they were asked for. */
  const comparisons = new Map();
  let asking = null;

  const flipped = (value) => ({
    ...value,
    a: value.b,
    b: value.a,
    better: { a: 'b', b: 'a' }[value.better] ?? value.better,
    difference: value.difference === null ? null : -value.difference,
    ...(value.interval ? { interval: { ...value.interval, low: -value.interval.high, high: -value.interval.low } } : {}),
    probability: value.probability === null ? null : 1 - value.probability,
  });
  /** What the server said about the two, as they stand now; undefined while it has not. */
  function comparisonOf([a, b]) {
    const straight = comparisons.get(a.id + ' ' + b.id);
    if (straight) return straight;
    const turned = comparisons.get(b.id + ' ' + a.id);
    return turned && flipped(turned);
  }

  /** Asks the server for what it says about the two that are chosen. */
  async function compareChosen() {
    asking?.abort();
    asking = null;
    if (chosen.length !== 2 || comparisonOf(chosen)) return;
    const [a, b] = chosen;
    const { signal } = (asking = new AbortController());
    $('compare-again').hidden = true;
    $('difference').textContent = 'Comparing';
    $('comparison').setAttribute('aria-busy', 'true');
    try {
      comparisons.set(a.id + ' ' + b.id, await askForComparison(a, b, signal));
      drawn = '';
      drawComparison();
      if (chosen.length === 2) announce('Comparison: ' + difference(comparisonOf(chosen)));
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Failure ? error : unreachable();
      const sentence = 'No comparison. ' + failure.message;
      $('difference').textContent = sentence + (failure.said ? ' The server says: ' + failure.said : '');
      $('compare-again').hidden = failure.kind === 'final';
      announce(sentence);
      if (failure.kind === 'locked') askForToken(failure);
    } finally {
      if (!signal.aborted) $('comparison').setAttribute('aria-busy', 'false');
    }
  }

  /** The server's comparison as a sentence. */
  function difference(value) {
    if (value.better === null) return 'One of the two has no score, so they cannot be compared.';
    const sure = (name, probability) => probability === null
      ? ''
      : ' The model holds ' + name + ' better with probability ' + probability.toFixed(2) + '.';
    if (value.better === 'tie') return 'Both score alike.' + sure('A', value.probability);
    const [one, other] = value.better === 'a' ? NAMES : [...NAMES].reverse();
    const gain = value.better === 'a' ? value : flipped(value);
    const range = intervalOf(gain);
    return one + ' scores ' + (gain.difference < 0.005 ? 'less than 0.01' : gain.difference.toFixed(2)) + ' higher than ' + other +
      (range ? ' (' + intervalWord(gain) + ' ' + asRange(range) + ')' : '') + '.' +
      (range && range[0] <= 0 ? ' The interval holds 0, so the order is uncertain.' : '') +
      sure(one, gain.probability);
  }

  let drawn = '';
  function drawComparison() {
    // A picture that is tried again has no score to compare.
    for (const item of [...chosen]) if (scoreOf(item) === null) chosen.splice(chosen.indexOf(item), 1);
    for (const item of items) {
      const at = chosen.indexOf(item);
      item.compare.setAttribute('aria-pressed', String(at >= 0));
      const word = at < 0 ? 'Compare' : chosen.length < 2 ? 'Chosen' : 'Side ' + NAMES[at];
      setText(item.compare, word);
      item.compare.setAttribute('aria-label', word + ' ' + item.name);
    }
    $('hint').hidden = chosen.length !== 1;
    $('comparison').hidden = chosen.length !== 2;
    const key = chosen.map(({ id }) => id).join(' ');
    if (chosen.length !== 2 || key === drawn) { drawn = key; return; }
    drawn = key;
    const compared = comparisonOf(chosen);
    // Of one comparison are the scores too: the server may read them in a mode that tells how sure it is.
    const results = compared && compared.better !== null
      ? [compared.a, compared.b]
      : chosen.map(({ result }) => result);
    const side = (item, i) => {
      const result = results[i];
      const frame = el('div', 'frame');
      if (!item.width) frame.append(el('span', 'no-preview', 'no preview'));
      else {
        const picture = el('img');
        picture.alt = 'picture ' + item.name;
        picture.src = item.url;
        frame.append(picture);
      }
      return el('figure', 'side side-' + i,
        frame,
        el('figcaption', '',
          el('p', 'name', el('span', 'badge', NAMES[i]), el('span', 'file', item.name)),
          el('p', 'score', el('b', 'value', result.score.toFixed(2)),
            result.level ? el('span', 'level level-' + result.level, result.level) : null),
          chips(result.distortions),
          result.reasoning ? el('p', 'reasoning', result.reasoning) : null));
    };
    $('compare-again').hidden = true;
    if (compared) $('difference').textContent = difference(compared);
    $('pair').replaceChildren(...chosen.map(side));
    $('pair-scale').replaceChildren(scale(results.map((result, i) => ({ name: NAMES[i], result }))));
  }
  $('swap').addEventListener('click', () => {
    chosen.reverse();
    drawComparison();
    void compareChosen();
  });
  $('compare-again').addEventListener('click', () => void compareChosen());
  $('end-comparison').addEventListener('click', () => {
    const back = chosen[1]?.compare;
    chosen.length = 0;
    void compareChosen();
    drawComparison();
    (back ?? $('choose')).focus();
  });
`;
