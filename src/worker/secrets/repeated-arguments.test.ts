import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import type { RepeatedMask } from '../../domain/ports/redactor.ts';
import type { RunEnding, RunRequest, ToolLogLine, ToolRunner } from '../../domain/ports/tool-runner.ts';
import { createRedactor } from '../../observe/redact/create-redactor.ts';
import { sampleDeclaration } from '../../../test/support/sample-call.ts';
import { oneLine } from '../../gate/hooks/show-cause.ts';
import { saneLogLine } from '../runners/cap-log.ts';
import { OutputLines } from '../runners/process/output-lines.ts';
import { findingRepeated, withRepeatedMasked } from './repeated-arguments.ts';

const KEY = { id: '1', bytes: new Uint8Array(32).fill(7) };
const redactor = findingRepeated(createRedactor(KEY), KEY);
const TEXT = 'bad 7391FAILA';
const pin = { type: 'string', 'x-secret': true };
const inputSchema: JsonObject = {
  type: 'object',
  properties: { pin, pins: { type: 'array', items: pin }, group: { 'x-secret': true }, note: { type: 'string' } },
};
const maskFor = (args: JsonObject | string): RepeatedMask => redactor.repeated!({ inputSchema }, [args])!;

describe('secret arguments that a tool repeats', () => {
  it('are masked in texts, with the mark that they have in the arguments', () => {
    const args = { pin: '7391FAILA', pins: ['hush-one'], group: { a: { b: 'hush-two' }, c: 73_915 }, note: 'seen' };
    const text = maskFor(args).scrubText('seen 7391FAILA hush-one HUSH hush-two 73915 NzM5MUZBSUxB');
    expect(text).toMatch(/^seen (\[secret [0-9a-f]{8}\] ){2}HUSH( \[secret [0-9a-f]{8}\]){3}$/);
    const mark = /\[secret [0-9a-f]{8}\]/.exec(text)![0];
    expect(redactor.arguments(JSON.stringify({ pin: '7391FAILA' }), { inputSchema })).toContain(mark);
    expect(maskFor(JSON.stringify(args)).scrub({ a: ['x 7391FAILA'] })).toEqual({ a: [`x ${mark}`] });
  });

  it('are found where a text was cut, and not in other words when they are short', () => {
    expect(maskFor({ pin: '0123456789abcdef' }).scrubText('it was 0123456789', true)).not.toContain('0123456789');
    const short = maskFor({ pin: 'four', pins: ['one'], group: true });
    expect(short.scrubText('four fourteen one true')).toMatch(/^\[secret \S{8}\] fourteen one true$/);
    expect(maskFor({ pin: 'secret:API_KEY' }).scrubText('secret:API_KEY')).toBe('secret:API_KEY');
  });

  it('are found without the blanks around them, and before the sign that a text was cut', () => {
    expect(maskFor({ pin: ' 7391FAILA ' }).scrubText('not 7391FAILA')).toMatch(/^not \[secret [0-9a-f]{8}\]$/);
    const cut = maskFor({ pin: '0123456789abcdef' }).scrubText('it was 0123456789…', true);
    expect(cut).toMatch(/^it was \[secret [0-9a-f]{8}\]…$/);
    expect(maskFor({ pin: 'hush12…' }).scrubText('hush12…', true)).toMatch(/^\[secret [0-9a-f]{8}\]$/);
  });

  it('are found in texts that were cleaned before: hook reasons and tool logs', () => {
    const value = '\n-----BEGIN\tKEY-----\r\nMIIE\u0007Qx7a\n';
    const mask = maskFor({ pin: value });
    for (const clean of [oneLine, (text: string) => saneLogLine('info', text).message]) {
      expect(mask.scrubText(clean(`no to ${value} now`))).toMatch(/^no to \s*\[secret [0-9a-f]{8}\]\s* now$/);
    }
    expect(maskFor({ pin: '7\nQx4' }).scrubText(oneLine('no 7\nQx4'))).toMatch(/^no \[secret [0-9a-f]{8}\]$/);
    const { data } = saneLogLine('info', '', { text: value, [value]: 1 });
    expect(JSON.stringify(mask.scrub(data!))).not.toMatch(/BEGIN|Qx7a/);
  });

  it('are found in each line of a value that has several, as a process prints them', () => {
    const printed: string[] = [];
    const output = new OutputLines();
    output.attach((line) => printed.push(line), 1000);
    const value = 'first line\r\n  7Qx4\n]\n\u001bthird';
    output.push(Buffer.from(`pin is ${value}\n`));
    const mask = maskFor({ pin: value });
    const mark = mask.scrubText(value);
    expect(printed.map((line) => mask.scrubText(line, true))).toEqual([`pin is ${mark}`, `  ${mark}`, ']', mark]);
  });

  it('are found by their beginning where a message cut them in its middle', () => {
    const value = 'correct horse\nbattery staple, and more than sixty-four characters of it';
    const mask = maskFor({ pin: value });
    const cut = JSON.stringify(value.slice(0, 40));
    expect(mask.scrubText(`it has no argument ${cut}. Remove it.`, true)).toMatch(
      /^it has no argument "\[secret [0-9a-f]{8}\]". Remove it\.$/,
    );
  });

  it('withhold the text when there are too many of them to search for', () => {
    const pins = Array.from({ length: 500 }, (_, index) => `hush-${index}`);
    for (const args of [{ pins }, { pin: pins.join('\n') }, { pin: 'x'.repeat(300_000) }]) {
      expect(maskFor(args).scrubText('hush-400')).toBe(
        'not shown: the call has too many secret arguments to search for',
      );
      expect(JSON.stringify(maskFor(args).scrub({ a: 'hush-400' }))).not.toContain('hush-400');
    }
  });

  it('are no matter for a tool that marks none', () => {
    expect(redactor.repeated!({ inputSchema: { type: 'object' } }, [{ pin: '7391' }])).toBeUndefined();
  });

  /** Runs a tool that logs `TEXT`, which contains its secret argument, sends it as a notice, and then ends with `ending`. */
  async function runTo(ending: RunEnding): Promise<{ ending: RunEnding; lines: ToolLogLine[] }> {
    const runner: ToolRunner = {
      run: ({ onLog }) => {
        onLog({ level: 'warn', message: TEXT, data: { text: TEXT } });
        onLog({ level: 'info', message: '', notice: { value: TEXT } });
        return ending;
      },
      close: async () => undefined,
    };
    const lines: ToolLogLine[] = [];
    const tool = sampleDeclaration({ inputSchema });
    const request = { tool, arguments: { pin: '7391FAILA' }, onLog: (line: ToolLogLine) => void lines.push(line) };
    return { ending: await withRepeatedMasked(runner, redactor).run(request as unknown as RunRequest), lines };
  }

  it('are masked in logs of a run, and not in what it answers its caller', async () => {
    const { lines } = await runTo({ kind: 'timed-out' });
    expect(JSON.stringify(lines[0])).not.toContain('7391FAILA');
    expect(lines[1]!.notice!.value).toBe(TEXT);
  });

  const files = [{ name: 'a.txt', mediaType: 'text/plain', bytes: Buffer.from(TEXT) }];
  const writeBacks = { ...NO_WRITE_BACKS, files };

  it.each([
    { kind: 'threw', type: 'Error', cause: TEXT, isStarted: true },
    { kind: 'threw', type: 'A7391FAILA', cause: '', isStarted: false },
    { kind: 'refused', how: 'failed', message: TEXT, code: 'A7391FAILA', writeBacks: NO_WRITE_BACKS },
    { kind: 'invalid-arguments', problems: [TEXT] },
    { kind: 'changed-arguments', changes: [TEXT] },
    { kind: 'changed-answers', changes: [TEXT] },
    { kind: 'not-json', problem: TEXT },
    { kind: 'unserialisable', problem: TEXT },
    { kind: 'crashed', how: TEXT },
  ] satisfies RunEnding[])('are masked in an ending that is a failure: $kind', async (ending: RunEnding) => {
    expect(JSON.stringify((await runTo(ending)).ending)).not.toContain('7391FAILA');
  });

  it.each([
    { kind: 'returned', result: { value: TEXT }, writeBacks },
    { kind: 'input-required', required: { requests: {}, state: TEXT }, unavailable: [], writeBacks },
  ] satisfies RunEnding[])('stay in what is for the caller: $kind', async (ending: RunEnding) => {
    expect((await runTo(ending)).ending).toBe(ending);
  });

  it('stay in the files of a failure', async () => {
    const { ending } = await runTo({ kind: 'refused', how: 'denied', message: TEXT, writeBacks });
    expect(ending).toMatchObject({ writeBacks: { files } });
  });
});
