import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Placeholder for a part of a title that is known only at run time. A title with `${name}` still matches around it. */
const UNKNOWN_PART = '…';

/** The paths where vitest looks for tests (vitest.config.ts). A file elsewhere would never run. */
const COLLECTED = /^(?:src|console\/src|test)\/.*\.test\.ts$/;
const NOT_RUN = new Set(['skip', 'todo', 'fails']);

/** A test as the source states it, for example `refuses %s`, with the texts of the table that fills in `%s`. */
export interface WrittenTest {
  /** The title of the test, preceded by the titles of its `describe` groups. */
  readonly title: string;
  readonly cases: readonly string[];
}

/** Whether this part of a title occurs in the title of the test or in one of its cases. */
export function isNamedBy({ title, cases }: WrittenTest, part: string): boolean {
  return title.includes(part) || cases.some((each) => each.includes(part));
}

/**
 * The tests of a file and of the suites that it imports from test/ (the store contract is one). Tests that never run are left out.
 * Reading takes milliseconds; letting vitest collect them would load every file, which takes minutes. Undefined if vitest would not
 * run the file.
 */
export function readTests(top: string, file: string): readonly WrittenTest[] | undefined {
  if (!COLLECTED.test(file) || !existsSync(join(top, file))) return undefined;
  const tests: WrittenTest[] = [];
  const open = [file];
  for (const path of open) {
    const source = parse(join(top, path));
    tests.push(...testsOf(source));
    for (const imported of importsOf(source, path)) {
      if (!open.includes(imported) && existsSync(join(top, imported))) open.push(imported);
    }
  }
  return tests;
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

function testsOf(source: ts.SourceFile): WrittenTest[] {
  const tests: WrittenTest[] = [];
  const tables = tablesOf(source);
  const visit = (node: ts.Node, groups: readonly WrittenTest[]): void => {
    const found = ts.isCallExpression(node) ? readCall(node, tables) : undefined;
    if (found?.runs === false) return;
    const inside = found === undefined ? groups : [...groups, found];
    if (found?.isTest) {
      const title = inside.map((each) => each.title).join(' ');
      tests.push({ title, cases: inside.flatMap(({ cases }) => cases) });
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, []);
  return tests;
}

/** The variables that a file declares at its top level. `it.each` may refer to them as tables. */
function tablesOf(source: ts.SourceFile): ReadonlyMap<string, ts.Expression> {
  const declared = source.statements
    .filter((statement) => ts.isVariableStatement(statement))
    .flatMap(({ declarationList }) => [...declarationList.declarations]);
  return new Map(
    declared.flatMap(({ name, initializer }): [string, ts.Expression][] =>
      ts.isIdentifier(name) && initializer !== undefined ? [[name.text, initializer]] : [],
    ),
  );
}

interface ReadCall extends WrittenTest {
  readonly isTest: boolean;
  readonly runs: boolean;
}

/** Reads a call of the form `it('…', …)`, `it.each(cases)('…', …)`, `describe.skipIf(condition)('…', …)` and so on. */
function readCall(call: ts.CallExpression, tables: ReadonlyMap<string, ts.Expression>): ReadCall | undefined {
  const [first, ...rest] = call.arguments;
  if (first === undefined || rest.length === 0) return undefined;
  const names = calleeNames(call.expression);
  const [base] = names;
  if (base !== 'it' && base !== 'test' && base !== 'describe') return undefined;
  const title = titleText(first);
  if (title === undefined) return undefined;
  const cases = ts.isCallExpression(call.expression) ? textsIn(call.expression.arguments, tables) : [];
  return { title, cases, isTest: base !== 'describe', runs: !names.some((name) => NOT_RUN.has(name)) };
}

/** Every string in a table, including the strings of a table that it refers to by name. */
function textsIn(nodes: readonly ts.Node[], tables: ReadonlyMap<string, ts.Expression>): string[] {
  const texts: string[] = [];
  const named = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    const table = ts.isIdentifier(node) && !named.has(node.text) ? tables.get(node.text) : undefined;
    if (table !== undefined) {
      named.add((node as ts.Identifier).text);
      visit(table);
    }
    ts.forEachChild(node, visit);
  };
  nodes.forEach(visit);
  return texts;
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
