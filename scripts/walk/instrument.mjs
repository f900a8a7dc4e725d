// Adds one statement to every function of a compiled file: a call of `enter` with the number of the function.
import ts from 'typescript';

/**
 * @param {string} file   path of the source below src/, as it is shown
 * @param {string} code   what the compiler made of it
 * @param {string} tracer import path of trace.mjs as seen from the compiled file
 * @param {{ file: string, name: string }[]} functions  receives every function; its index is the number that is traced
 * @returns {string} the code with its trace calls
 */
export function instrument(file, code, tracer, functions) {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const inserts = [];
  const visit = (node, owner) => {
    const inner = ts.isClassLike(node) ? (node.name?.text ?? owner) : owner;
    if (ts.isFunctionLike(node) && node.body !== undefined) {
      functions.push({ file, name: nameOf(node, owner) });
      inserts.push(...callAt(node.body, `__enter(${functions.length - 1})`));
    }
    node.forEachChild((child) => visit(child, inner));
  };
  visit(source, undefined);
  const body = applyInserts(code, inserts);
  const header = `import { enter as __enter } from ${JSON.stringify(tracer)};`;
  return body.startsWith('#!') ? body.replace('\n', `\n${header}\n`) : `${header}\n${body}`;
}

/**
 * In a block, the call becomes the first statement after the directives. In an arrow function with an expression, it becomes the first
 * part of a comma expression whose last part is that expression.
 */
function callAt(body, call) {
  if (!ts.isBlock(body)) {
    return [
      { at: body.getStart(), text: `(${call}, ` },
      { at: body.getEnd(), text: ')' },
    ];
  }
  const isDirective = (statement) => ts.isExpressionStatement(statement) && ts.isStringLiteral(statement.expression);
  // A derived class's constructor may not use `this` before super(). The inserted call does not use it.
  const directives = body.statements.filter(isDirective);
  const at = directives.length === 0 ? body.getStart() + 1 : directives.at(-1).getEnd();
  return [{ at, text: `${call};` }];
}

function applyInserts(code, inserts) {
  const sorted = inserts.map((insert, order) => ({ ...insert, order }));
  // Insertions at the same place: opening texts keep the order of the visit, and the closing texts of inner functions come first.
  sorted.sort((one, other) => one.at - other.at || rank(one) - rank(other));
  let done = 0;
  let result = '';
  for (const { at, text } of sorted) {
    result += code.slice(done, at) + text;
    done = at;
  }
  return result + code.slice(done);
}

const rank = ({ text, order }) => (text === ')' ? -1e9 - order : order);

function nameOf(node, owner) {
  const own = ownName(node);
  return owner === undefined || ts.isFunctionDeclaration(node) ? own : `${owner}.${own}`;
}

function ownName(node) {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent))
    return parent.name.getText();
  if (ts.isCallExpression(parent)) return `callback of ${calleeOf(parent)}`;
  return 'anonymous function';
}

function calleeOf(call) {
  const { expression } = call;
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText().slice(0, 40);
}
