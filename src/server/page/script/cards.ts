/** One card for each picture: what happens to it, then score, interval, level, reasoning and distortions. */
export const CARDS_PART = `
  const LEVELS = ['bad', 'poor', 'fair', 'good', 'excellent'];
  const share = (value) => Math.min(100, Math.max(0, ((value - 1) / 4) * 100)) + '%';
  const NO_SCORE = {
    unparsable: 'The answer of the model holds no score that can be read.',
    'out-of-range': 'The model wrote a score outside 1 to 5, so it does not count.',
    truncated: 'The answer of the model was cut off before a score.',
  };
  const noScore = (result) => NO_SCORE[result.status] ?? 'There is no score (' + result.status + ').';
  const verdict = (result) =>
    result.status === 'ok'
      ? result.score.toFixed(2) + ' of 5' + (result.level ? ', ' + result.level : '') + '.'
      : noScore(result);

  /** Lower and upper end of the interval; undefined where the result has none. */
  const intervalOf = ({ interval }) =>
    Number.isFinite(interval?.low) && Number.isFinite(interval?.high) ? [interval.low, interval.high] : undefined;
  /** "95 % interval", where the result says how much lies inside. */
  const intervalWord = ({ interval: { level } = {} }) =>
    typeof level === 'number' && level > 0 && level <= 1 ? Math.round(level * 100) + ' % interval' : 'interval';
  const asRange = ([low, high]) => low.toFixed(2) + ' to ' + high.toFixed(2);

  /** The scale from 1 to 5 in its five levels, one mark with its interval for each result. */
  function scale(marks) {
    const line = el('div', 'scale');
    line.setAttribute('role', 'img');
    line.setAttribute('aria-label', marks.map(({ name, result }) => {
      const interval = intervalOf(result);
      return (name ? name + ': ' : '') + result.score.toFixed(2) + ' on a scale from 1 to 5' +
        (interval ? ', ' + intervalWord(result) + ' ' + asRange(interval) : '');
    }).join('; '));
    const track = el('div', 'track');
    marks.forEach(({ name, result }, i) => {
      const interval = intervalOf(result);
      const lane = el('div', 'lane lane-' + i);
      if (interval) {
        const band = el('i', 'band');
        band.style.setProperty('--low', share(interval[0]));
        band.style.setProperty('--high', share(interval[1]));
        lane.append(band);
      }
      const dot = el('i', 'dot', name ?? '');
      dot.style.setProperty('--at', share(result.score));
      lane.append(dot);
      track.append(lane);
    });
    const zones = el('div', 'zones');
    for (const level of LEVELS) {
      const zone = el('span', 'zone zone-' + level, level);
      if (marks.length === 1 && marks[0].result.level === level) zone.classList.add('here');
      zones.append(zone);
    }
    const ticks = el('div', 'ticks');
    for (const value of [1, 2, 3, 4, 5]) {
      const tick = el('span', '', String(value));
      tick.style.setProperty('--at', share(value));
      ticks.append(tick);
    }
    line.append(track, zones, ticks);
    return line;
  }

  const spaced = (type) => type.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[-_]+/g, ' ').toLowerCase();
  const distortionName = (type) => (Object.hasOwn(WORDS.distortions, type) ? WORDS.distortions[type] : spaced(String(type)));

  function chips(distortions) {
    if (!Array.isArray(distortions) || distortions.length === 0) return el('p', 'none', 'No distortion is named.');
    const list = el('ul', 'chips');
    list.setAttribute('aria-label', 'distortions');
    for (const { type, level } of distortions) {
      const known = Number.isInteger(level) && level >= 1 && level <= 5;
      const meter = el('span', 'meter');
      meter.setAttribute('aria-hidden', 'true');
      for (let i = 1; known && i <= 5; i++) meter.append(el('i', i <= level ? 'on' : ''));
      const severity = known ? WORDS.severities[level] + ' (' + level + ' of 5)' : null;
      const chip = el('li', known ? 'chip severity-' + level : 'chip', el('b', '', distortionName(type)));
      if (known) chip.append(' ', el('span', '', WORDS.severities[level]), meter);
      chip.setAttribute('aria-label', distortionName(type) + (severity ? ', ' + severity : ''));
      list.append(chip);
    }
    return list;
  }

  const exported = (item) => ({
    file: item.name,
    bytes: item.file.size,
    ...(item.width ? { width: item.width, height: item.height } : {}),
    ...(item.failure && item.state !== 'waiting'
      ? { error: { code: item.failure.code, message: item.failure.message, ...(item.failure.said ? { server: item.failure.said } : {}) } }
      : item.result),
  });

  const sizeWords = (item) =>
    (item.width ? item.width + ' × ' + item.height + ' · ' : '') + fileSize(item.file.size);

  function addCard(item) {
    const card = (item.card = el('article', 'card'));
    card.dataset.id = item.id;
    const title = el('h3', '', item.name);
    title.id = 'title-' + item.id;
    title.tabIndex = -1;
    card.setAttribute('aria-labelledby', title.id);
    const picture = el('img');
    picture.alt = 'picture ' + item.name;
    picture.decoding = 'async';
    const size = el('p', 'size', sizeWords(item));
    const frame = el('div', 'frame', picture);
    let decoded;
    item.noPreview = new Promise((resolve) => { decoded = resolve; });
    picture.addEventListener('load', () => {
      decoded(false);
      item.width = picture.naturalWidth;
      item.height = picture.naturalHeight;
      setText(size, sizeWords(item));
    });
    picture.addEventListener('error', () => {
      decoded(true);
      frame.replaceChildren(el('span', 'no-preview', 'no preview'));
    });
    picture.src = item.url;
    item.body = el('div', 'body');
    item.compare = button('', 'Compare', () => choose(item));
    item.compare.setAttribute('aria-pressed', 'false');
    item.again = button('', 'Try again', () => retry(item));
    item.copy = button('', 'Copy JSON', () => copyFrom(item.copy, exported(item), item.name));
    const bin = button('quiet', 'Remove', () => remove(item));
    for (const [control, verb] of [[item.compare, 'Compare'], [item.again, 'Try again'], [item.copy, 'Copy JSON of'], [bin, 'Remove']])
      control.setAttribute('aria-label', verb + ' ' + item.name);
    card.append(
      frame,
      el('div', 'facts',
        el('div', 'head', title, size),
        item.body,
        el('div', 'actions', item.again, item.compare, item.copy, bin)),
    );
    const entry = $('cards');
    entry.prepend(card);
    drawCard(item);
  }

  function progressBar(label) {
    const bar = el('progress');
    bar.setAttribute('aria-label', label);
    return bar;
  }

  function drawCard(item) {
    const { state, result, failure, body } = item;
    item.card.dataset.state = state;
    item.card.setAttribute('aria-busy', String(state === 'working'));
    item.again.hidden = !(state === 'failed' && failure.kind !== 'final');
    item.compare.hidden = !(state === 'done' && result.status === 'ok');
    item.copy.hidden = !finished(item) || state === 'locked';
    item.streamed = null;
    if (state === 'waiting') {
      const left = Math.max(0, pausedUntil - Date.now()) / 1000;
      body.replaceChildren(el('p', 'state', failure && left > 0
        ? 'The server is busy. Trying again in ' + seconds(left) + '.'
        : 'Waiting'));
    } else if (state === 'working') {
      item.streamed = el('p', 'reasoning streaming');
      item.working = el('p', 'state', 'Looking at the picture');
      body.replaceChildren(item.working, progressBar('scoring ' + item.name), item.streamed);
      drawReasoning(item);
    } else if (state === 'done') {
      body.replaceChildren(...resultParts(item));
    } else {
      body.replaceChildren(el('p', 'failure', failure.message));
      if (failure.said) body.append(el('p', 'said', 'The server says: ' + failure.said));
    }
    sortCards();
    drawComparison();
  }

  function drawReasoning(item) {
    if (!item.streamed) return;
    const text = reasoningSoFar(item.text);
    setText(item.streamed, text);
    if (text !== '') setText(item.working, item.text.includes('</think>') ? 'Deciding on a score' : 'Reasoning');
  }

  function resultParts(item) {
    const { result } = item;
    const parts = [];
    if (result.status === 'ok') {
      const interval = intervalOf(result);
      const line = el('p', 'score', el('b', 'value', result.score.toFixed(2)), el('span', 'of', 'of 5'));
      if (result.level) line.append(el('span', 'level level-' + (LEVELS.includes(result.level) ? result.level : 'fair'), result.level));
      if (interval) line.append(el('span', 'interval', intervalWord(result) + ' ' + asRange(interval)));
      else if (Number.isFinite(result.std)) line.append(el('span', 'interval', 'standard deviation ' + result.std.toFixed(2)));
      parts.push(line, scale([{ result }]));
    } else {
      parts.push(el('p', 'failure', 'No score. ' + noScore(result)));
    }
    if (result.reasoning) parts.push(el('p', 'reasoning', result.reasoning));
    if (result.status === 'ok' || result.distortions?.length > 0) parts.push(chips(result.distortions));
    if (typeof result.text === 'string' && result.text !== '') {
      const more = el('details', 'more', el('summary', '', 'Whole answer'), el('pre', '', result.text));
      more.open = result.status !== 'ok';
      parts.push(more);
    }
    return parts;
  }

  // Order of the cards, and how far all of them are.
  const scoreOf = ({ state, result }) => (state === 'done' && result.status === 'ok' ? result.score : null);
  function sortCards() {
    const order = $('sort').value;
    const sorted = [...items];
    if (order !== 'added') {
      sorted.sort((a, b) => {
        const [one, other] = [scoreOf(a), scoreOf(b)];
        if (one === null || other === null) return (one === null ? 1 : 0) - (other === null ? 1 : 0);
        return order === 'worst' ? one - other : other - one;
      });
    }
    const shown = [...$('cards').children];
    if (sorted.every((item, i) => shown[i] === item.card)) return;
    const focused = document.activeElement;
    $('cards').append(...sorted.map((item) => item.card));
    if (focused && focused !== document.body && document.activeElement !== focused) focused.focus();
  }
  $('sort').addEventListener('change', sortCards);

  function drawOverall() {
    const total = items.length;
    const done = items.filter(finished).length;
    $('results').hidden = total === 0;
    root.classList.toggle('started', total > 0);
    const busy = done < total;
    $('overall').hidden = !busy;
    $('overall').max = Math.max(1, total);
    $('overall').value = done;
    const scored = items.filter((item) => scoreOf(item) !== null).length;
    setText($('count'), busy
      ? done + ' of ' + plural(total, 'picture', 'pictures') + ' done'
      : plural(total, 'picture', 'pictures') + (scored < total ? ', ' + scored + ' with a score' : ''));
    $('copy-all').disabled = done === 0;
  }
  $('copy-all').addEventListener('click', () =>
    copyFrom($('copy-all'), items.filter((item) => finished(item)).map(exported), 'All results'));
  $('clear').addEventListener('click', () => {
    for (const item of [...items]) remove(item);
    $('choose').focus();
  });
`;
