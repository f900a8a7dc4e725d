import { basename } from 'node:path';
import type { ClientInput } from './parsed-client-file.ts';

/** A variable that only a person, or the environment of a client, can fill in. */
export interface OpenVariable {
  /** As it is written: `${input:key}`. */
  readonly written: string;
  readonly kind: 'env' | 'input' | 'other';
  readonly name: string;
  readonly description?: string | undefined;
}

export interface VariableValues {
  /** The project folder, if the file belongs to one. */
  readonly project: string | undefined;
  readonly home: string;
  readonly inputs: readonly ClientInput[];
}

export interface ExpandedText {
  readonly text: string;
  readonly open: readonly OpenVariable[];
  /** Remarks on values that were chosen here, such as a default. */
  readonly chosen: readonly string[];
}

const VARIABLE = /\$\{([^{}$]{1,200})\}/g;

/**
 * Replaces the variables of clients that are known here: `${workspaceFolder}`, `${userHome}`, and defaults. The others stay as they are
 * written. The environment of this process is not read: what it holds now need not be what the client would have.
 */
export function expandVariables(text: string, values: VariableValues): ExpandedText {
  const open: OpenVariable[] = [];
  const chosen: string[] = [];
  const expanded = text.replaceAll(VARIABLE, (written, inner: string) => {
    const known = knownValue(inner, values);
    if (known !== undefined) return known;
    const variable = readVariable(written, inner, values.inputs);
    if (variable.fallback === undefined) {
      open.push(variable);
      return written;
    }
    chosen.push(`${written} has its default`);
    return variable.fallback;
  });
  return { text: expanded, open, chosen };
}

function knownValue(inner: string, { project, home }: VariableValues): string | undefined {
  switch (inner) {
    case 'workspaceFolder':
      return project;
    case 'workspaceFolderBasename':
      return project === undefined ? undefined : basename(project);
    case 'userHome':
      return home;
    case '/':
    case 'pathSeparator':
      return '/';
    default:
      return undefined;
  }
}

function readVariable(
  written: string,
  inner: string,
  inputs: readonly ClientInput[],
): OpenVariable & { readonly fallback?: string | undefined } {
  if (inner.startsWith('input:')) {
    const name = inner.slice('input:'.length);
    const { description, fallback } = inputs.find(({ id }) => id === name) ?? {};
    return { written, kind: 'input', name, description, fallback };
  }
  // `${env:X}` of VS Code, Cursor and Windsurf; `${X}` and `${X:-default}` of Claude Code.
  const [, name, , fallback] = /^(?:env:)?([A-Za-z_]\w*)(:-(.*))?$/s.exec(inner) ?? [];
  if (name === undefined || name === 'workspaceFolder' || name === 'workspaceFolderBasename') {
    return { written, kind: 'other', name: inner };
  }
  return { written, kind: 'env', name, fallback };
}
