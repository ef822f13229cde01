/** Elements, words for screen readers, and the colour scheme. What others wrote enters by textContent alone. */
export const DOM_PART = `
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  const el = (tag, cls, ...children) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const button = (cls, text, act) => {
    const node = el('button', cls, text);
    node.type = 'button';
    node.addEventListener('click', act);
    return node;
  };
  /** Sets a text only where it differs, so that a selection in it survives a redraw. */
  const setText = (node, text) => { if (node.textContent !== text) node.textContent = text; };
  const plural = (count, one, many) => count + ' ' + (count === 1 ? one : many);

  // Sentences are read one after the other: a second one in the same moment must not swallow the first.
  const pendingWords = [];
  let speaking = false;
  function announce(sentence) {
    pendingWords.push(sentence);
    if (speaking) return;
    speaking = true;
    const next = () => {
      const words = pendingWords.splice(0).join(' ');
      if (words === '') { speaking = false; return; }
      $('live').textContent = words;
      setTimeout(next, 600);
    };
    setTimeout(next, 50);
  }

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

  // Without a secure context (plain http to another machine) there is no clipboard API; the old command stays.
  async function copyText(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = el('textarea', 'unseen', text);
    const focused = document.activeElement;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    focused?.focus();
    if (!done) throw new Error('the browser refused');
  }

  async function copyFrom(control, value, what) {
    const label = control.textContent;
    try {
      await copyText(JSON.stringify(value, null, 2));
      control.textContent = 'Copied';
      announce(what + ' copied.');
    } catch (error) {
      control.textContent = 'Not copied';
      announce('The browser did not allow copying.');
    }
    setTimeout(() => { control.textContent = label; }, 1500);
  }
`;
