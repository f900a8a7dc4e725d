import { isAbsolute, resolve } from 'node:path';
import { parseSecretText } from '../../domain/secret/secret-reference.ts';
import type { ClientServer } from './client-server.ts';
import { expandVariables, type OpenVariable, type VariableValues } from './expand-variables.ts';
import { pinArguments, type LaunchedPackage } from './find-package.ts';
import { readSetting } from './read-setting.ts';

/** An upstream as the configuration has it. */
export type UpstreamEntry =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly url: string;
      readonly transport: 'http' | 'sse';
      readonly headers?: Readonly<Record<string, string>>;
    };

/** A value that moves out of the client's file. */
export interface MovedSecret {
  readonly name: string;
  /** Where it was: the name of the variable or header. */
  readonly setting: string;
  /** Undefined if a person has to fill it in. */
  readonly value: string | undefined;
}

export interface BuiltUpstream {
  readonly entry: UpstreamEntry;
  readonly secrets: readonly MovedSecret[];
  /** What a person has to fill in before the upstream can work. */
  readonly fillIns: readonly string[];
  readonly remarks: readonly string[];
  /** Why it cannot be taken over. */
  readonly blocked?: string;
}

export interface BuildNeeds {
  readonly values: VariableValues;
  /** The exact version that a package gets. */
  readonly pin?: { readonly found: LaunchedPackage; readonly version: string } | undefined;
  readonly nameSecret: (setting: string, value: string | undefined) => string;
}

/** Builds the upstream of a server. Values that look like secrets become references. */
export function buildUpstream({ connection }: ClientServer, needs: BuildNeeds): BuiltUpstream {
  const building = new Building(needs);
  if (connection.kind === 'remote') {
    const url = building.text('the address', connection.url);
    const headers = building.settings('header', connection.headers);
    return building.finish({ url, transport: connection.transport, ...(headers === undefined ? {} : { headers }) });
  }
  const command = building.text('the command', connection.command);
  const given =
    needs.pin === undefined ? connection.args : pinArguments(connection.args, needs.pin.found, needs.pin.version);
  const args = given.map((word, index) => building.text(`argument ${index + 1}`, word));
  const env = building.settings('variable', connection.env);
  const cwd = building.folder(connection.cwd);
  return building.finish({
    command,
    ...(args.length === 0 ? {} : { args }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  });
}

class Building {
  readonly #needs: BuildNeeds;
  readonly #secrets: MovedSecret[] = [];
  readonly #fillIns: string[] = [];
  readonly #remarks: string[] = [];
  #blocked: string | undefined;

  constructor(needs: BuildNeeds) {
    this.#needs = needs;
  }

  finish(entry: UpstreamEntry): BuiltUpstream {
    return {
      entry,
      secrets: this.#secrets,
      fillIns: this.#fillIns,
      remarks: this.#remarks,
      ...(this.#blocked === undefined ? {} : { blocked: this.#blocked }),
    };
  }

  text(what: string, written: string): string {
    const { text, open, chosen } = expandVariables(written, this.#needs.values);
    if (parseSecretText(text).kind !== 'plain') this.#refuse(what);
    for (const variable of open) this.#fillIns.push(`${what} has ${describeVariable(variable)}: write its value there`);
    this.#remarks.push(...chosen.map((remark) => `${what}: ${remark}`));
    return text;
  }

  /** The folder that the client would start it in: for a project the project's own. */
  folder(cwd: string | undefined): string | undefined {
    const { project } = this.#needs.values;
    if (cwd === undefined) return project;
    const text = this.text('the folder', cwd);
    if (isAbsolute(text) || text.includes('${')) return text;
    if (project !== undefined) return resolve(project, text);
    this.#fillIns.push('the folder is a relative path: write it from the root');
    return text;
  }

  settings(what: string, settings: ReadonlyMap<string, string>): Record<string, string> | undefined {
    if (settings.size === 0) return undefined;
    return Object.fromEntries([...settings].map(([name, written]) => [name, this.#setting(what, name, written)]));
  }

  #setting(what: string, name: string, written: string): string {
    const setting = readSetting(name, written, this.#needs.values);
    if (setting.kind === 'reference') {
      this.#refuse(`${what} ${name}`);
      return '';
    }
    if (setting.remark !== undefined) this.#remarks.push(`${what} ${name}: ${setting.remark}`);
    if (setting.kind === 'plain') {
      for (const variable of setting.open)
        this.#fillIns.push(`${what} ${name} has ${describeVariable(variable)}: write its value there`);
      return setting.text;
    }
    const [variable] = setting.open;
    // The variable's own name says more than that of a header.
    const secret = this.#needs.nameSecret(variable?.kind === 'env' ? variable.name : name, setting.value);
    this.#secrets.push({ name: secret, setting: name, value: setting.value });
    if (variable !== undefined) {
      this.#fillIns.push(`${what} ${name} has ${describeVariable(variable)}: write its value to the secret ${secret}`);
    }
    return setting.prefix === '' ? `secret:${secret}` : `${setting.prefix}\${secret:${secret}}`;
  }

  #refuse(what: string): void {
    this.#blocked ??= `${what} reads like a reference to one of your secrets`;
  }
}

function describeVariable({ written, description }: OpenVariable): string {
  return description === undefined ? written : `${written} (${description})`;
}
