import Table from 'cli-table3';
import pc from 'picocolors';
import { asTyped } from './own-command.ts';
import { escapeLine, escapeText, toSafeJson } from '../base/escape-text.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';
export type Cell = string | { readonly text: string; readonly style: Style };

/**
 * Results go to standard output, everything else to standard error. Every text is escaped here, whatever its source, except in `printRaw`.
 * Colours are added afterwards, and only for a terminal.
 */
export interface Terminal {
  readonly json: boolean;
  /** Standard error is a terminal that understands cursor movements. */
  readonly interactive: boolean;
  print(text: string, style?: Style): void;
  /** Prints the text without escaping. The command `call` rejects `--raw` when standard output is a terminal. */
  printRaw(text: string): void;
  printJson(value: unknown): void;
  /** Prints a table. Without a head, each row is one fact and is indented. */
  printTable(head: readonly string[] | undefined, rows: readonly (readonly Cell[])[]): void;
  /** A remark; not shown with --json. Commands in remarks, warnings, hints, failures and fixes are shown as this user types them; see `asTyped`. */
  note(text: string): void;
  warn(text: string, label?: 'warning' | 'error'): void;
  /** Prints a line that belongs to the warning or failure above it, such as a command to type. Shown with --json too. */
  hint(text: string): void;
  fail(text: string, fix: string | undefined): void;
  /** Shows one line that the next output replaces. An empty text clears it. */
  showProgress(text: string): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export function createTerminal(options: { readonly json: boolean; readonly env: Environment }): Terminal {
  const { json, env } = options;
  const plain = env['TERM'] === 'dumb' || (env['NO_COLOR'] ?? '') !== '';
  const ascii = isAsciiOnly(env);
  const [outColors, errColors] = [process.stdout, process.stderr].map((stream) =>
    pc.createColors(stream.isTTY === true && !plain),
  );
  const interactive = process.stderr.isTTY === true && env['TERM'] !== 'dumb';
  let progressShown = false;
  const own = (text: string): string => (ascii ? toAscii(text) : text);

  function clearProgress(): void {
    if (progressShown) process.stderr.write('\r\u001b[K');
    progressShown = false;
  }
  function write(stream: NodeJS.WriteStream, text: string): void {
    clearProgress();
    stream.write(`${text}\n`);
  }

  return {
    json,
    interactive,
    print: (text, style) => write(process.stdout, paint(outColors!, own(escapeText(text)), style)),
    printRaw: (text) => void process.stdout.write(text),
    printJson: (value) => write(process.stdout, toSafeJson(value)),
    printTable(head, rows) {
      const table = new Table({
        chars: NO_LINES,
        style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
        head: (head ?? []).map((text) => paint(outColors!, text, 'bold')),
      });
      const cell = (content: Cell): string =>
        typeof content === 'string'
          ? own(escapeLine(content))
          : paint(outColors!, own(escapeLine(content.text)), content.style);
      for (const row of rows) table.push(row.map(cell));
      const lines = table.toString().split('\n');
      const indent = head === undefined ? '  ' : '';
      write(process.stdout, lines.map((line) => indent + line.trimEnd()).join('\n'));
    },
    note: (text) =>
      json ? undefined : write(process.stderr, paint(errColors!, own(escapeText(asTyped(text))), 'dim')),
    warn: (text, label = 'warning') =>
      write(
        process.stderr,
        `${paint(errColors!, `${label}:`, label === 'error' ? 'red' : 'yellow')} ${own(escapeLine(asTyped(text)))}`,
      ),
    hint: (text) => write(process.stderr, `  ${own(escapeLine(asTyped(text)))}`),
    fail(text, fix) {
      write(process.stderr, `${paint(errColors!, 'sallyport:', 'red')} ${own(escapeLine(asTyped(text)))}`);
      if (fix !== undefined) write(process.stderr, `  ${own(escapeLine(asTyped(fix)))}`);
    },
    showProgress(text) {
      clearProgress();
      if (text === '') return;
      const width = Math.max(20, process.stderr.columns || 80);
      process.stderr.write(own(escapeLine(text)).slice(0, width - 1));
      progressShown = true;
    },
  };
}

function paint(colors: ReturnType<typeof pc.createColors>, text: string, style: Style | undefined): string {
  return style === undefined ? text : colors[style](text);
}

/** Whether the locale excludes UTF-8. If no locale is set, as is usual in containers, the terminal is assumed to read UTF-8. */
function isAsciiOnly(env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '');
  return locale !== undefined && !/utf-?8/i.test(locale);
}

const ASCII: Readonly<Record<string, string>> = { '≤': '<=', '≥': '>=', '…': '...', '–': '-', '→': '->', '·': '-' };

function toAscii(text: string): string {
  return text.replaceAll(
    /[^\n\t\u0020-\u007e]/gu,
    (character) => ASCII[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
