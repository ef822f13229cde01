/** Three ways in: drop, choose, paste. */
export const INPUT_PART = `
  $('choose').addEventListener('click', () => $('file').click());
  $('file').addEventListener('change', () => {
    addFiles($('file').files);
    // The same file may be chosen again.
    $('file').value = '';
  });

  // The whole page takes drops: a picture let go beside the box must not replace the page.
  let depth = 0;
  const carriesFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
  const over = (on) => root.classList.toggle('over', on);
  addEventListener('dragenter', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    depth++;
    over(true);
  });
  addEventListener('dragover', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
  });
  addEventListener('dragleave', (event) => {
    if (!carriesFiles(event)) return;
    depth = Math.max(0, depth - 1);
    if (depth === 0) over(false);
  });
  addEventListener('drop', (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    depth = 0;
    over(false);
    addFiles(event.dataTransfer.files);
  });
  addEventListener('paste', (event) => {
    if (event.target instanceof Element && event.target.closest('input, textarea')) return;
    const files = event.clipboardData?.files ?? [];
    if (files.length === 0) {
      announce('There is no picture in the clipboard.');
      return;
    }
    event.preventDefault();
    addFiles(files, true);
  });
`;
