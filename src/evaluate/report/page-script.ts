/**
 * The script of the page: tabs, the colour scheme, specifications as files, and the gallery. It is plain browser
 * JavaScript kept as text, because the page that carries it is one file. It builds elements from data by
 * textContent only, so nothing that a model wrote is ever read as markup.
 */
export const PAGE_SCRIPT = String.raw`
'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  root.classList.add('scripted');

  const el = (tag, cls, ...children) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };

  // Colour scheme: the system's, until the reader chooses.
  const theme = $('theme');
  const systemDark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.style.colorScheme ? root.style.colorScheme === 'dark' : systemDark.matches);
  const showTheme = () => { theme.textContent = isDark() ? 'Light' : 'Dark'; };
  theme.addEventListener('click', () => {
    root.style.colorScheme = isDark() ? 'light' : 'dark';
    showTheme();
  });
  systemDark.addEventListener('change', showTheme);
  showTheme();

  // Tabs: one split's figures at a time.
  for (const list of document.querySelectorAll('[role=tablist]')) {
    const tabs = [...list.querySelectorAll('[role=tab]')];
    const choose = (chosen) => {
      for (const tab of tabs) {
        const on = tab === chosen;
        tab.setAttribute('aria-selected', String(on));
        tab.tabIndex = on ? 0 : -1;
        $(tab.getAttribute('aria-controls')).hidden = !on;
      }
    };
    list.addEventListener('click', (event) => {
      const tab = event.target.closest('[role=tab]');
      if (tab) choose(tab);
    });
    list.addEventListener('keydown', (event) => {
      const at = tabs.indexOf(document.activeElement);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const tab = tabs[(to + tabs.length) % tabs.length];
      choose(tab);
      tab.focus();
    });
    choose(tabs[0]);
  }

  // Specifications: each figure hands out the one it was drawn from.
  for (const source of document.querySelectorAll('script[data-spec]')) {
    const button = el('button', 'spec', 'Vega-Lite');
    button.type = 'button';
    const name = source.dataset.spec + '.vl.json';
    button.title = 'save the specification of this picture as ' + name;
    button.addEventListener('click', () => {
      const text = JSON.stringify(JSON.parse(source.textContent), null, 2) + '\n';
      const link = el('a');
      link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    source.closest('figure').querySelector('figcaption').append(button);
  }

  // Gallery.
  const cards = $('cards');
  if (!cards) return;
  const data = JSON.parse($('gallery-data').textContent);
  let pictures = null; // The largest part of the page: read when the first card is drawn.
  const PAGE = 48;
  const control = (id) => $(id)?.value ?? '';
  let found = [];
  let page = 0;
  let focused = 0;

  // What a picture is found by, for the model that is shown: made when it is first searched.
  const texts = new Map();
  const words = (i, m) => {
    const key = i * data.models.length + m;
    let text = texts.get(key);
    if (text === undefined) {
      const row = data.rows[i];
      const answer = row.answers[m];
      text = [row.id, row.image, row.truthText, answer.text, answer.named.join(' '), answer.level ?? '', answer.status]
        .join('\n')
        .toLowerCase();
      texts.set(key, text);
    }
    return text;
  };
  const modelAt = () => ($('model') ? Number($('model').value) : data.models.length - 1);
  const errorOf = (row, m) => {
    const answer = row.answers[m];
    return answer && answer.score !== null ? answer.score - row.mos : null;
  };

  // Every order puts pictures without its value last, and breaks ties by name.
  const by = (value) => (rows) => {
    const keyed = rows.map((i) => [value(data.rows[i]), data.rows[i].id, i]);
    keyed.sort((a, b) => {
      if (a[0] === null || b[0] === null) {
        if (a[0] !== b[0]) return a[0] === null ? 1 : -1;
      } else if (a[0] !== b[0]) return b[0] - a[0];
      return a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : a[2] - b[2];
    });
    return keyed.map((key) => key[2]);
  };
  const size = (value) => (value === null ? null : Math.abs(value));
  const minus = (value) => (value === null ? null : -value);
  // Against the baseline, which is the first model; the baseline itself is set against the last one.
  const otherOf = (m) => (m === 0 ? data.models.length - 1 : 0);
  const gain = (row, m) => {
    const now = size(errorOf(row, m));
    const before = size(errorOf(row, otherOf(m)));
    return now === null || before === null ? null : before - now;
  };
  const ORDERS = {
    worst: (m) => by((row) => size(errorOf(row, m))),
    best: (m) => by((row) => minus(size(errorOf(row, m)))),
    kind: (m) => by((row) => errorOf(row, m)),
    harsh: (m) => by((row) => minus(errorOf(row, m))),
    'mos-down': () => by((row) => row.mos),
    'mos-up': () => by((row) => -row.mos),
    id: () => by(() => 0),
    better: (m) => by((row) => gain(row, m)),
    poorer: (m) => by((row) => minus(gain(row, m))),
  };

  const isType = (row, answer, type) => {
    if (type === '') return true;
    if (type === '-') return row.truth !== null && row.truth.length === 0;
    if (row.truth !== null) return row.truth.includes(type);
    return answer.named.some((name) => name.replace(/ \d\/5$/, '') === type);
  };

  function find() {
    const m = modelAt();
    const terms = control('q').toLowerCase().split(/\s+/).filter(Boolean);
    const split = control('split');
    const type = control('type');
    const flag = control('flag');
    const rows = [];
    data.rows.forEach((row, i) => {
      const answer = row.answers[m];
      if (!answer) return;
      if (split !== '' && row.split !== Number(split)) return;
      if (!isType(row, answer, type)) return;
      if (flag !== '' && !answer.flags.includes(flag)) return;
      if (terms.every((term) => words(i, m).includes(term))) rows.push(i);
    });
    found = ORDERS[control('sort')](m)(rows);
    page = 0;
    focused = 0;
    draw();
  }

  const signed = (value) => {
    const text = Math.abs(value).toFixed(2);
    return Number(text) === 0 ? text : (value > 0 ? '+' : '\u2212') + text;
  };
  const share = (value) => Math.min(100, Math.max(0, ((value - 1) / 4) * 100)) + '%';

  function reasoning(answer) {
    const quote = el('blockquote');
    const text = answer.text.slice(...answer.shown);
    let at = 0;
    for (const [from, to, type, verdict] of answer.spans) {
      quote.append(text.slice(at, from));
      const mark = el('mark', verdict, text.slice(from, to));
      mark.title = type + { right: ': in the picture, or the nearest relative of what is', wrong: ': not in the picture', open: '' }[verdict];
      quote.append(mark);
      at = to;
    }
    quote.append(text.slice(at));
    return quote;
  }

  function pictureOf(row) {
    if (typeof row.picture === 'string') return el('div', 'picture absent', row.picture);
    pictures ??= JSON.parse($('gallery-pictures').textContent);
    const image = el('img', 'picture');
    image.decoding = 'async';
    image.loading = 'lazy';
    image.alt = 'picture ' + row.id;
    image.src = pictures[row.picture];
    return image;
  }

  // The scale from 1 to 5: the MOS as a tick, its raters' standard deviation as a band, the score as a dot.
  function scale(row, answer) {
    const line = el('div', 'scale');
    line.style.setProperty('--mos', share(row.mos));
    if (answer.score !== null) line.style.setProperty('--score', share(answer.score));
    if (row.std !== null) {
      line.style.setProperty('--low', share(row.mos - row.std));
      line.style.setProperty('--high', share(row.mos + row.std));
      line.append(el('i', 'std'));
    }
    line.append(el('i', 'mos'));
    if (answer.score !== null) line.append(el('i', 'score'));
    line.setAttribute('aria-hidden', 'true');
    return line;
  }

  function fact(list, name, value) {
    list.append(el('dt', '', name), el('dd', '', value));
  }

  function card(row, m) {
    const answer = row.answers[m];
    const error = errorOf(row, m);
    const node = el('article', 'card');
    node.dataset.id = row.id;
    node.dataset.split = data.splits[row.split];
    node.setAttribute('role', 'listitem');
    node.setAttribute(
      'aria-label',
      row.id + ': MOS ' + row.mos.toFixed(2) + ', ' +
        (answer.score === null ? 'no score' : 'score ' + answer.score.toFixed(2)),
    );
    node.tabIndex = -1;
    const scores = el('p', 'scores');
    const mos = el('span', '', 'MOS ', el('b', '', row.mos.toFixed(2)));
    if (row.std !== null) mos.title = 'standard deviation of the raters ' + row.std.toFixed(2);
    scores.append(
      mos,
      el('span', '', 'score ', el('b', '', answer.score === null ? 'none' : answer.score.toFixed(2))),
      el('span', 'error', error === null ? answer.status : signed(error)),
    );
    const facts = el('dl');
    fact(facts, 'true', row.truthText);
    fact(facts, 'named', answer.named.join(', ') || 'none');
    fact(facts, 'level', answer.level ?? 'none stated');
    const more = el('details', 'more');
    more.append(el('summary', '', 'whole answers'));
    more.addEventListener('toggle', () => {
      if (!more.open || more.children.length > 1) return;
      row.answers.forEach((other, i) => {
        if (!other) return;
        more.append(el('h4', '', data.models[i], el('small', '', ' ' + other.flags.join(', '))));
        more.append(el('pre', '', other.text));
      });
    });
    const name = el('p', 'name', row.id);
    if (data.splits.length > 1) name.append(el('span', '', data.splits[row.split]));
    row.answers.forEach((other, i) => {
      if (i === m || !other) return;
      name.append(el('span', '', data.models[i] + ' ' + (other.score === null ? 'no score' : other.score.toFixed(2))));
    });
    node.append(pictureOf(row), el('div', 'facts', scores, scale(row, answer), facts), reasoning(answer), name, more);
    return node;
  }

  const pages = () => Math.max(1, Math.ceil(found.length / PAGE));

  function draw() {
    const m = modelAt();
    const shown = found.slice(page * PAGE, (page + 1) * PAGE);
    cards.replaceChildren(...shown.map((i) => card(data.rows[i], m)));
    if (shown.length === 0) cards.append(el('p', 'none', 'No answer fits. Fewer words or filters show more.'));
    const all = data.rows.filter((row) => row.answers[m]).length;
    $('count').textContent =
      found.length === all ? all.toLocaleString('en') + ' answers' : found.length.toLocaleString('en') + ' of ' + all.toLocaleString('en') + ' answers';
    $('page').textContent = 'page ' + (page + 1) + ' of ' + pages();
    $('previous').disabled = page === 0;
    $('next').disabled = page >= pages() - 1;
    focused = Math.min(focused, Math.max(0, shown.length - 1));
    mark();
  }

  const all = () => cards.querySelectorAll('.card');
  const mark = () => all().forEach((node, i) => { node.tabIndex = i === focused ? 0 : -1; });

  function focus(i) {
    const nodes = all();
    if (nodes.length === 0) return;
    focused = Math.min(nodes.length - 1, Math.max(0, i));
    mark();
    nodes[focused].focus();
  }

  function turn(by, at) {
    const to = Math.min(pages() - 1, Math.max(0, page + by));
    if (to === page) return false;
    page = to;
    focused = 0;
    draw();
    if (at === undefined) cards.scrollIntoView({ block: 'start' });
    else focus(at < 0 ? all().length - 1 : at);
    return true;
  }

  function columns() {
    const nodes = [...all()];
    const top = nodes[0]?.offsetTop;
    const at = nodes.findIndex((node) => node.offsetTop !== top);
    return at < 0 ? Math.max(1, nodes.length) : at;
  }

  cards.addEventListener('focusin', (event) => {
    const node = event.target.closest('.card');
    const at = [...all()].indexOf(node);
    if (at >= 0 && at !== focused) { focused = at; mark(); }
  });
  cards.addEventListener('keydown', (event) => {
    if (!event.target.classList.contains('card') || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = all().length - 1;
    const act = {
      ArrowRight: () => (focused < last ? focus(focused + 1) : turn(1, 0)),
      ArrowLeft: () => (focused > 0 ? focus(focused - 1) : turn(-1, -1)),
      ArrowDown: () => focus(focused + columns()),
      ArrowUp: () => focus(focused - columns()),
      Home: () => focus(0),
      End: () => focus(last),
      PageDown: () => turn(1, 0),
      PageUp: () => turn(-1, 0),
      Enter: () => { const more = event.target.querySelector('details'); more.open = !more.open; },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener('keydown', (event) => {
    const typing = event.target.closest('input, select, textarea');
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      $('q').focus();
      $('q').select();
    }
  });
  $('previous').addEventListener('click', () => turn(-1));
  $('next').addEventListener('click', () => turn(1));

  const form = $('q').form;
  form.addEventListener('submit', (event) => { event.preventDefault(); focus(0); });
  form.addEventListener('input', find);
  form.addEventListener('reset', () => setTimeout(find));
  find();
  root.dataset.ready = 'true';
})();
`;
