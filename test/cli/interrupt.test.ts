import { describe, expect, it } from 'vitest';
import { FIXTURE, startChild } from './run-child.ts';

const work = (mode: string) => startChild(FIXTURE, ['train', 'work', '--set', `mode=${mode}`]);

describe('stopping a stage', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s lets it save and end with 130', async (name) => {
    const child = work('wait');
    await child.printed('work: 0/3');
    child.process.kill(name);
    const { code, signal, stdout, stderr } = await child.ended;
    expect({ code, signal }).toEqual({ code: 130, signal: null });
    expect(stdout).toMatch(/saved\n$/);
    expect(stderr).toContain(`${name}: finishing the current step and saving`);
    expect(stderr).toMatch(new RegExp(`error: stopped by ${name}\nhint: the same command continues\n$`));
  });

  it('one that keeps no state promises neither saving nor continuing', async () => {
    const child = startChild(FIXTURE, ['needs', 'a.png', '--run', 'x']);
    await child.printed('needs: 0/1');
    child.process.kill('SIGINT');
    const { code, stderr } = await child.ended;
    expect(code).toBe(130);
    expect(stderr).not.toMatch(/saving|continues/);
    expect(stderr).toContain(
      '\nhint: this command keeps no state: given again, it starts from the beginning\n',
    );
  });

  it('the same key press told twice, as npm does, counts once', async () => {
    const child = work('wait');
    await child.printed('work: 0/3');
    child.process.kill('SIGINT');
    // Two signals sent at one moment would be merged by the system.
    await child.printed('finishing the current step');
    child.process.kill('SIGINT');
    expect(await child.ended).toMatchObject({ code: 130, signal: null });
  });

  it('a second one ends it at once, even inside native code', async () => {
    const child = work('busy');
    await child.printed('work: 0/3');
    child.process.kill('SIGINT');
    await child.printed('saved');
    // The stage is now in an endless loop; nothing but the system can end it.
    child.process.kill('SIGINT');
    expect(await child.ended).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  it("an AbortError of Node's own functions is an interruption, not a defect", async () => {
    const child = work('abortable');
    await child.printed('work: 0/3');
    child.process.kill('SIGINT');
    expect(await child.ended).toMatchObject({ code: 130, signal: null });
  });
});

it('a reader that has seen enough (| head) ends the program quietly', async () => {
  const child = work('flood');
  await child.printed('a line of results');
  child.process.stdout?.destroy();
  expect(await child.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
});
