import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Stands for what is known only at run time, so that a title with `${name}` still matches around it. */
export const UNKNOWN_PART = '…';

/** Where vitest looks for tests (vitest.config.ts): a file elsewhere would never run. */
const COLLECTED = /^(?:src|console\/src|test)\/.*\.test\.ts$/;
const NOT_RUN = new Set(['skip', 'todo', 'fails']);

/**
 * The full titles of a test file, as written, with those of the suites it imports from test/ (the contract of the stores
 * is one). Tests that never run have none. Reading takes milliseconds; letting vitest collect would load every file,
 * which takes minutes. Undefined if vitest would not run the file.
 */
export function readTestTitles(top: string, file: string): readonly string[] | undefined {
  if (!COLLECTED.test(file) || !existsSync(join(top, file))) return undefined;
  const titles: string[] = [];
  const open = [file];
  for (const path of open) {
    const source = parse(join(top, path));
    titles.push(...titlesOf(source));
    for (const imported of importsOf(source, path)) {
      if (!open.includes(imported) && existsSync(join(top, imported))) open.push(imported);
    }
  }
  return titles;
}

const parsed = new Map<string, ts.SourceFile>();

function parse(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  parsed.set(path, source);
  return source;
}

function importsOf(source: ts.SourceFile, from: string): string[] {
  return source.statements
    .filter((statement) => ts.isImportDeclaration(statement))
    .filter((statement) => statement.importClause?.isTypeOnly !== true)
    .map(({ moduleSpecifier }) => (ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : ''))
    .filter((name) => name.startsWith('.') && name.endsWith('.ts'))
    .map((name) => join(dirname(from), name))
    .filter((path) => path.startsWith('test/') && !path.endsWith('.test.ts'));
}

function titlesOf(source: ts.SourceFile): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node, groups: readonly string[]): void => {
    const found = ts.isCallExpression(node) ? readCall(node) : undefined;
    if (found?.runs === false) return;
    const inside = found === undefined ? groups : [...groups, found.title];
    if (found?.isTest) titles.push(inside.join(' '));
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, []);
  return titles;
}

/** `it('…', …)`, `it.each(cases)('…', …)`, `describe.skipIf(condition)('…', …)` and so on. */
function readCall(call: ts.CallExpression): { isTest: boolean; runs: boolean; title: string } | undefined {
  const [first, ...rest] = call.arguments;
  if (first === undefined || rest.length === 0) return undefined;
  const names = calleeNames(call.expression);
  const [base] = names;
  if (base !== 'it' && base !== 'test' && base !== 'describe') return undefined;
  const title = titleText(first);
  if (title === undefined) return undefined;
  return { isTest: base !== 'describe', runs: !names.some((name) => NOT_RUN.has(name)), title };
}

function calleeNames(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...calleeNames(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return calleeNames(callee.expression);
  if (ts.isTaggedTemplateExpression(callee)) return calleeNames(callee.tag);
  return [];
}

function titleText(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(UNKNOWN_PART);
}
