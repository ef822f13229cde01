/**
 * Asking for a score. The scoring endpoint alone decides what the result is; the chat endpoint is listened to
 * beside it for the reasoning as it is written, and left as soon as the result is there. A server that cannot
 * stream costs the reader the show and nothing else. No number is ever read from a text here.
 */
export const TRANSPORT_PART = String.raw`
  const authorization = () => (token === '' ? {} : { authorization: 'Bearer ' + token });

  async function send(path, init, signal) {
    try {
      return await fetch(path, {
        method: 'POST',
        credentials: 'same-origin',
        cache: 'no-store',
        ...init,
        headers: { ...init.headers, ...authorization() },
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw unreachable();
    }
  }

  const isResult = (value) =>
    value !== null && typeof value === 'object' && typeof value.status === 'string' &&
    (value.status !== 'ok' || (typeof value.score === 'number' && value.score >= 1 && value.score <= 5));

  async function askForScore(item, signal) {
    const body = new FormData();
    body.append('image', item.file, item.name);
    const response = await send('v1/score', { body, headers: { accept: 'application/json' } }, signal);
    if (!response.ok) throw await failureOf(response, item);
    let value;
    try { value = await response.json(); } catch (error) {
      if (signal.aborted) throw error;
      throw garbled();
    }
    if (!isResult(value)) throw garbled();
    return value;
  }

  const isComparison = (value) =>
    value !== null && typeof value === 'object' && isResult(value.a) && isResult(value.b) &&
    (value.better === null || (['a', 'b', 'tie'].includes(value.better) && Number.isFinite(value.difference))) &&
    (value.probability === null || Number.isFinite(value.probability));

  /** What the server says about two pictures: it compares as the library does. */
  async function askForComparison(a, b, signal) {
    const body = new FormData();
    body.append('a', a.file, a.name);
    body.append('b', b.file, b.name);
    const response = await send('v1/compare', { body, headers: { accept: 'application/json' } }, signal);
    if (!response.ok) throw await failureOf(response, a.file.size > b.file.size ? a : b);
    let value;
    try { value = await response.json(); } catch (error) {
      if (signal.aborted) throw error;
      throw garbled();
    }
    if (!isComparison(value)) throw garbled();
    return value;
  }

  const dataUrl = (file) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

  /** Server-sent events of a reply: the data of each, in order. */
  async function* eventsOf(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      rest = (rest + (value ?? '')).replace(/\r\n?/g, '\n');
      const events = rest.split('\n\n');
      rest = done ? '' : events.pop();
      for (const event of events) {
        const data = event.split('\n').filter((line) => line.startsWith('data:'))
          .map((line) => line.slice(5).replace(/^ /, ''));
        if (data.length > 0) yield data.join('\n');
      }
      if (done) return;
    }
  }

  const question = () => (root.dataset.prompt ? [{ type: 'text', text: root.dataset.prompt }] : []);

  /** Follows the answer as it is written. Whatever goes wrong here is left to the scoring endpoint to tell. */
  async function listen(item, signal, onText) {
    try {
      const image = { type: 'image_url', image_url: { url: await dataUrl(item.file) } };
      const response = await send('v1/chat/completions', {
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({
          ...(root.dataset.model ? { model: root.dataset.model } : {}),
          messages: [{ role: 'user', content: [image, ...question()] }],
          stream: true,
          temperature: 0,
        }),
      }, signal);
      if (!response.ok || !(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
        // Not asked again for the next picture: what cannot stream now will not stream later.
        if ([404, 405, 501].includes(response.status) || response.ok) canStream = false;
        await response.body?.cancel();
        return;
      }
      let text = '';
      for await (const data of eventsOf(response)) {
        if (data === '[DONE]') return;
        const delta = JSON.parse(data).choices?.[0]?.delta?.content;
        if (typeof delta === 'string' && delta !== '') onText((text += delta));
      }
    } catch (error) {
      if (!signal.aborted) console.debug('the reasoning could not be followed:', error);
    }
  }

  let canStream = true;
  async function ask(item, signal, onText) {
    const listening = new AbortController();
    const stop = () => listening.abort();
    signal.addEventListener('abort', stop);
    if (canStream) void listen(item, listening.signal, onText);
    try {
      return await askForScore(item, signal);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  /** What stands between the think tags so far. */
  const reasoningSoFar = (text) => {
    const at = text.indexOf('<think>');
    if (at < 0) return '';
    return text.slice(at + 7).split('</think>')[0].replace(/<[^>]*$/, '').trim();
  };
`;
