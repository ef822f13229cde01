/** The list of pictures of this tab and the order in which they are sent. Nothing of it is stored anywhere. */
export const QUEUE_PART = `
  const AT_ONCE = 2;
  /** Times that a picture is sent again by itself when the server is busy, and the longest wait for that. */
  const PATIENCE = 5;
  const LONGEST_WAIT = 60;

  let token = '';
  let nextId = 1;
  let pasted = 0;
  let pausedUntil = 0;
  const items = [];
  const working = () => items.filter((item) => item.state === 'working').length;
  const finished = (item) => ['done', 'failed', 'locked'].includes(item.state);

  function addFiles(files, fromClipboard = false) {
    const list = [...files];
    if (list.length === 0) return;
    for (const file of list) {
      const item = {
        id: nextId++,
        file,
        name: fromClipboard ? 'pasted picture ' + ++pasted : file.name,
        url: URL.createObjectURL(file),
        state: 'waiting', text: '', result: null, failure: null, refused: 0, seconds: null,
        controller: new AbortController(),
      };
      if (file.size === 0) fail(item, new Failure('final', 'This file is empty (0 bytes).'));
      else if (maxBytes && file.size > maxBytes) fail(item, new Failure('final', tooLarge(file.size)));
      items.unshift(item);
      addCard(item);
    }
    announce(plural(list.length, 'picture', 'pictures') + ' added.');
    pump();
  }

  function fail(item, failure) {
    item.state = failure.kind === 'locked' ? 'locked' : 'failed';
    item.failure = failure;
  }

  function pump() {
    const pause = pausedUntil - Date.now();
    if (pause <= 0) {
      // The oldest first: new ones lie at the front of the list.
      const waiting = items.filter((item) => item.state === 'waiting').reverse();
      for (const item of waiting.slice(0, Math.max(0, AT_ONCE - working()))) void work(item);
    }
    drawOverall();
  }

  async function work(item) {
    item.state = 'working';
    item.text = '';
    item.failure = null;
    const { signal } = (item.controller = new AbortController());
    drawCard(item);
    const started = performance.now();
    try {
      item.result = await ask(item, signal, (text) => {
        item.text = text;
        drawReasoning(item);
      });
      item.state = 'done';
      item.seconds = (performance.now() - started) / 1000;
      announce(item.name + ': ' + verdict(item.result));
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Failure ? error : unreachable();
      if (failure.kind === 'busy' && (failure.wait ?? 5) <= LONGEST_WAIT && item.refused < PATIENCE) {
        waitFor(item, failure);
      } else {
        fail(item, failure);
        announce(item.name + ': ' + failure.message);
        if (failure.kind === 'locked') askForToken(failure);
      }
    }
    drawCard(item);
    pump();
  }

  /** The server asks for patience: everybody waits, and this picture goes first again. */
  function waitFor(item, failure) {
    item.refused++;
    item.state = 'waiting';
    item.failure = failure;
    const until = Date.now() + 1000 * Math.max(failure.wait ?? 5, 0.2);
    pausedUntil = Math.max(pausedUntil, until);
    announce(failure.message);
    const tick = () => {
      if (item.state !== 'waiting' || !items.includes(item)) return pump();
      const left = pausedUntil - Date.now();
      drawCard(item);
      if (left <= 0) pump();
      else setTimeout(tick, Math.min(1000, left));
    };
    tick();
  }

  function retry(item) {
    item.state = 'waiting';
    item.failure = null;
    item.refused = 0;
    drawCard(item);
    pump();
  }

  function remove(item) {
    item.controller.abort();
    const at = items.indexOf(item);
    items.splice(at, 1);
    item.state = 'removed';
    unchoose(item);
    URL.revokeObjectURL(item.url);
    const focusInside = item.card.contains(document.activeElement);
    item.card.remove();
    if (focusInside) {
      const shown = [...$('cards').children];
      const neighbour = items[Math.min(at, items.length - 1)];
      if (shown.length > 0 && neighbour) neighbour.card.querySelector('h3').focus();
      else $('choose').focus();
    }
    announce(item.name + ' removed.');
    pump();
  }

  function askForToken(failure) {
    setText($('token-why'), failure.message + ' It is kept in this tab alone, until the tab is closed.');
    const first = $('token-form').hidden;
    $('token-form').hidden = false;
    if (first || failure.kind === 'locked') $('token').focus();
  }
  $('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    token = $('token').value.trim();
    if (token === '') return;
    $('token').value = '';
    $('token-form').hidden = true;
    for (const item of items) if (item.state === 'locked') retry(item);
    $('choose').focus();
  });
`;
