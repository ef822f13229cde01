import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ACTION_FORMATS,
  type ActionFormat,
  createActionParser,
  createTextCraft,
  parseAction,
  plainAction,
  REPLY_ANSWERS,
} from '../../../src/env/text/index.ts';

const textcraft = createTextCraft();
const problemOf = (reply: string, format: ActionFormat): string => {
  const parsed = parseAction(reply, format, textcraft);
  return 'problem' in parsed ? parsed.problem : `read: ${parsed.action}`;
};

describe('react', () => {
  it.each([
    ['Thought:\nI need wood.\n\nAction:\nget 1 ash log', 'I need wood.', 'get 1 ash log'],
    ['Thought: I need wood.\nAction: get 1 ash log', 'I need wood.', 'get 1 ash log'],
    ['Action: inventory', '', 'inventory'],
    ['just so\nAction:   get  2   reed .\nand more', 'just so', 'get 2 reed'],
    ['Action:\n\n\nmove left\n', '', 'move left'],
  ])('%j', (reply, thought, action) => {
    expect(parseAction(reply, 'react')).toEqual({ thought, action });
  });

  it.each([
    '',
    'get 1 ash log',
    'Thought: get 1 ash log',
    'action: inventory',
    'Action:',
    'Action:\n ',
    'Action: !?',
  ])('finds no action in %j, and guesses none', (reply) => {
    expect(parseAction(reply, 'react')).toEqual({
      problem: 'none',
      observation: "Error: No 'Action' was found in your response. Please adjust your response.",
    });
  });

  it('refuses several actions in the words of AgentGym', () => {
    expect(parseAction('Action: get 1 reed\nAction: inventory', 'react')).toEqual({
      problem: 'several',
      observation: "Error: Only one 'Action' is allowed per response. Please adjust your response.",
    });
  });

  it('keeps marks where a world needs them', () => {
    const reply = 'Action: search[red shoes, size 9]';
    expect(parseAction(reply, 'react', {}, { keepMarks: true })).toMatchObject({
      action: 'search[red shoes, size 9]',
    });
    expect(parseAction(reply, 'react')).toMatchObject({ action: 'searchred shoes, size 9' });
  });

  it('cleans actions as AgentGym’s clients do', () => {
    expect(plainAction('  craft 1 "bread" using 1  dough,\t1 charcoal! ')).toBe(
      'craft 1 bread using 1 dough,1 charcoal',
    );
  });
});

describe('function_calling', () => {
  const call = { thought: 'wood', function_name: 'get', arguments: { count: 2, item: 'ash log' } };

  it.each([
    ['plain', JSON.stringify(call), 'wood'],
    ['fenced', `Let me see.\n\`\`\`json\n${JSON.stringify(call, null, 2)}\n\`\`\``, 'wood'],
    ['older key', '{"function_name": "get", "args": {"item": "ash log", "count": 2}}', ''],
    [
      'tool call',
      'So.\n<tool_call>\n{"name": "get", "arguments": {"count": 2, "item": "ash log"}}\n</tool_call>',
      'So.',
    ],
  ])('reads the %s form', (_, reply, thought) => {
    expect(parseAction(reply, 'function_calling', textcraft)).toEqual({ thought, action: 'get 2 ash log' });
  });

  it('takes the whole action as text where a family has no functions', () => {
    const reply = '{"function_name": "act", "arguments": {"action": "move left"}}';
    expect(parseAction(reply, 'function_calling')).toEqual({ thought: '', action: 'move left' });
  });

  it.each([
    ['get 2 ash log', 'none'],
    ['', 'none'],
    ['{"function_name": "get"', 'malformed'],
    ['{"function_name": "fly", "arguments": {}}', 'malformed'],
    ['{"function_name": "get", "arguments": {"count": "2", "item": "ash log"}}', 'malformed'],
    ['{"function_name": "get", "arguments": {"count": 2.5, "item": "ash log"}}', 'malformed'],
    ['{"function_name": "get", "arguments": {"count": 2}}', 'malformed'],
    ['{"function_name": "inventory", "arguments": {"deep": 1}}', 'malformed'],
    ['{"function_name": "get", "arguments": [2, "ash log"]}', 'malformed'],
    ['<tool_call>{}</tool_call><tool_call>{}</tool_call>', 'several'],
    ['{"function_name": "inventory", "arguments": {}}', 'read: inventory'],
  ])('%s -> %s', (reply, expected) => {
    expect(problemOf(reply, 'function_calling')).toBe(expected);
  });
});

describe('code_as_action', () => {
  const block = (code: string): string => `Wood first.\n\`\`\`python\n${code}\n\`\`\``;

  it.each([
    ['get(2, "ash log")', 'get 2 ash log'],
    ["get(item='ash log', count=2)", 'get 2 ash log'],
    ['get( count = 2 , item = "ash log", )', 'get 2 ash log'],
    ['craft(1, "bow", "3 stick, 2 thread")', 'craft 1 bow using 3 stick, 2 thread'],
    ['inventory()', 'inventory'],
    // The quotes are read as characters of the item, and cleaned away as in every action.
    ['get(1, "\\"ash\\" log")', 'get 1 ash log'],
  ])('%s', (code, action) => {
    expect(parseAction(block(code), 'code_as_action', textcraft)).toEqual({
      thought: 'Wood first.',
      action,
    });
  });

  it.each([
    'get(2, item="ash log")',
    'get(2)',
    'get(1 + 1, "ash log")',
    'get(2, f"ash log")',
    'get(count=2, count=2)',
    'import os',
    'get(2, "ash log"); inventory()',
    'get(2, "ash log")\ninventory()',
    'os.system("x")',
    'get(2, inventory())',
    'get(2 "ash log")',
    'get(2, "ash\\tlog")',
  ])('does not read %s', (code) => {
    expect(problemOf(block(code), 'code_as_action')).toBe('malformed');
  });

  it('wants one block', () => {
    expect(problemOf('get(2, "ash log")', 'code_as_action')).toBe('none');
    expect(problemOf(block(''), 'code_as_action')).toBe('none');
    expect(problemOf(`${block('inventory()')}\n${block('inventory()')}`, 'code_as_action')).toBe('several');
  });
});

describe('parseAction', () => {
  it('reads an action or answers, whatever the reply', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('Action:', 'Thought:', '\n', '```python\n', '```', '<tool_call>', '</tool_call>'),
      fc.constantFrom('get(', '"', ')', ',', '{"name":"get","arguments":', '{}', '}', 'count=', '1'),
    );
    const reply = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(reply, fc.constantFrom(...ACTION_FORMATS), (text, format) => {
        const parsed = parseAction(text, format, textcraft);
        if ('problem' in parsed) expect(parsed.observation).toBe(REPLY_ANSWERS[format][parsed.problem]);
        else expect(parsed.action).toMatch(/^[A-Za-z0-9,]+( [A-Za-z0-9,]+)*$/);
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});

describe('createActionParser', () => {
  it('counts replies by outcome', () => {
    const parser = createActionParser('react');
    for (const reply of ['Action: a', 'Action: b', 'no', 'Action: a\nAction: b', '']) parser.parse(reply);
    expect(parser.counts).toEqual({ read: 2, none: 2, several: 1, malformed: 0 });
  });
});
