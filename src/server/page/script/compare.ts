/** Two pictures side by side on one scale. What is said about them follows from their two results alone. */
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
      announce('Comparison: ' + difference(...chosen));
      const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
      $('comparison').scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
    } else if (chosen.length === 1) announce('Choose a second picture to compare with ' + chosen[0].name + '.');
  }
  function unchoose(item) {
    const at = chosen.indexOf(item);
    if (at < 0) return;
    chosen.splice(at, 1);
    drawComparison();
  }

  /** A sentence about two results that have a score. */
  function difference(a, b) {
    // Of the scores as they are shown, so that the sentence agrees with what is seen.
    const gap = Number(a.result.score.toFixed(2)) - Number(b.result.score.toFixed(2));
    const shown = Math.abs(gap).toFixed(2);
    const [one, other] = [intervalOf(a.result), intervalOf(b.result)];
    const overlap = one && other ? one[0] <= other[1] && other[0] <= one[1] : null;
    const doubt = overlap === null ? '' : overlap
      ? ' Their intervals overlap, so the order is uncertain.'
      : ' Their intervals do not overlap.';
    if (Number(shown) === 0) return 'Both score ' + a.result.score.toFixed(2) + '.' + doubt;
    return (gap > 0 ? 'A' : 'B') + ' scores ' + shown + ' higher than ' + (gap > 0 ? 'B' : 'A') + '.' + doubt;
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
    const side = (item, i) => {
      const { result } = item;
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
    $('difference').textContent = difference(...chosen);
    $('pair').replaceChildren(...chosen.map(side));
    $('pair-scale').replaceChildren(scale(chosen.map((item, i) => ({ name: NAMES[i], result: item.result }))));
  }
  $('swap').addEventListener('click', () => { chosen.reverse(); drawComparison(); });
  $('end-comparison').addEventListener('click', () => {
    const back = chosen[1]?.compare;
    chosen.length = 0;
    drawComparison();
    (back ?? $('choose')).focus();
  });
`;
