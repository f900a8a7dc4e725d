import { stringify } from 'smol-toml';
import type { JsonObject } from '../../base/json.ts';
import { tomlStatements, type TomlStatement } from './toml-statements.ts';

interface Block {
  readonly start: number;
  readonly end: number;
  readonly startsWithTable: boolean;
}

/**
 * Replaces tables below a path in a TOML text by one table. It takes the place of the first of them if that is a table with a header of
 * its own, otherwise it stands at the end. All other characters stay, except for blank lines behind a table that was cut.
 */
export function replaceTomlTables(
  text: string,
  path: readonly string[],
  names: readonly string[],
  entry: { readonly name: string; readonly value: JsonObject } | undefined,
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const isRemoved = (statement: TomlStatement): boolean =>
    path.every((part, index) => statement.path[index] === part) && names.includes(statement.path[path.length] ?? '');
  const blocks = joinBlocks(tomlStatements(text), isRemoved);
  const table = entry === undefined ? undefined : tableOf(path, entry.name, entry.value, eol);
  const home = table === undefined ? undefined : blocks.find(({ startsWithTable }) => startsWithTable);
  let edited = '';
  let from = 0;
  for (const block of blocks) {
    if (block === home) {
      edited += text.slice(from, block.start) + table!;
      from = block.end;
    } else {
      edited += text.slice(from, lineStart(text, block.start));
      from = endOfBlanks(text, block.end);
    }
  }
  edited += text.slice(from);
  if (table === undefined || home !== undefined) return edited;
  const gap = edited === '' || edited.endsWith('\n') ? '' : eol;
  return `${edited}${gap}${edited === '' ? '' : eol}${table}${eol}`;
}

/** Joins statements that follow each other: a table with its assignments is cut as one piece, with the comments in it. */
function joinBlocks(statements: readonly TomlStatement[], isRemoved: (one: TomlStatement) => boolean): Block[] {
  const blocks: Block[] = [];
  let open = false;
  for (const statement of statements) {
    const last = blocks.at(-1);
    if (!isRemoved(statement)) open = false;
    else if (open && last !== undefined && statement.kind === 'pair')
      blocks[blocks.length - 1] = { ...last, end: statement.end };
    else {
      blocks.push({ start: statement.start, end: statement.end, startsWithTable: statement.kind === 'table' });
      open = true;
    }
  }
  return blocks;
}

function tableOf(path: readonly string[], name: string, value: JsonObject, eol: string): string {
  let nested: JsonObject = { [name]: value };
  for (const part of path.toReversed()) nested = { [part]: nested };
  return stringify(nested).trim().replaceAll(/\r?\n/g, eol);
}

function lineStart(text: string, at: number): number {
  const before = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return before.trim() === '' ? at - before.length : at;
}

/** The position behind the line break of the block, and behind the blank lines after it. A comment in the last line stays. */
function endOfBlanks(text: string, end: number): number {
  return end + /^(?:[ \t]*(?:\r?\n|$))*/.exec(text.slice(end))![0].length;
}
