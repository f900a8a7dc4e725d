import { compileDefaults } from '../modules/catalog/fill-defaults.ts';
import { readUriArgument } from '../modules/catalog/read-uri-argument.ts';
import { createValidatorCache } from '../modules/catalog/validate-arguments.ts';
import { placeOfRule } from '../gate/policy/place-of-rule.ts';
import { readPolicyFile, type PolicyFile } from '../gate/policy/policy-file.ts';
import { indexTools, type Catalog } from '../domain/tool/catalog.ts';
import type { ToolId } from '../domain/identity/ids.ts';
import { explainCall, type Asked, type CheckAnswer, type Explanation } from '../domain/policy/explain-call.ts';
import { nearNames } from '../base/near-names.ts';
import type { PolicyChange } from '../domain/policy/nearest-change.ts';
import type { PolicyRecord } from '../domain/policy/policy.ts';
import { OTHER_VERSION, servingOf, UNSERVED, type Serving, type ServingState } from '../domain/tool/serving.ts';
import type { ToolDeclaration } from '../domain/tool/tool.ts';
import { foreseeRules } from '../gate/rules/foresee-rules.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { FleetReader } from '../domain/ports/fleet-registry.ts';
import type { PolicyReader } from '../domain/ports/policy-store.ts';
import { shellWord } from '../base/shell-word.ts';

/** An explanation for a person. It adds the places in the policy file, and the commands that make the changes. */
export interface ExplainedPolicy extends Explanation {
  readonly checks: readonly (CheckAnswer & { readonly place?: string })[];
  readonly changes: readonly (PolicyChange & ShownChange)[];
  /** Whether a live worker serves the tool. No policy decides that. Absent: the tool is not published. */
  readonly serving?: Serving;
}

interface ExplainOptions {
  readonly policyFile: string | undefined;
  /**
   * Called when the policy file cannot be read. The explanation itself comes from the store, so only the places in the file are missing.
   */
  readonly warn: (error: unknown) => void;
}

export async function explainPolicy(
  store: PolicyReader & CatalogReader & FleetReader,
  asked: Asked,
  { policyFile, warn }: ExplainOptions,
): Promise<ExplainedPolicy> {
  const [catalog, record] = [await store.readCatalog(), await store.readPolicy()];
  const explanation = createExplainer(catalog, record)(asked);
  const published = indexTools(catalog).get(asked.tool as ToolId);
  const serving = published && servingOf(published.module, await store.listWorkers());
  const file = policyFile === undefined ? undefined : readKnownFile(policyFile, warn);
  return {
    ...explanation,
    checks: explanation.checks.map((answer) => {
      const place =
        answer.rule === undefined || file === undefined ? undefined : placeOfRule(file, record.policy, answer.rule);
      const found =
        answer.check === 'tool' && serving !== undefined ? describeServed(answer.found, serving) : answer.found;
      return { ...answer, found, ...(place === undefined ? {} : { place }) };
    }),
    changes: explanation.changes.map((change) => ({ ...change, ...describeChange(change) })),
    ...(serving === undefined ? {} : { serving }),
  };
}

const NOT_SERVED: Partial<Record<ServingState, string>> = { unserved: UNSERVED, 'other-version': OTHER_VERSION };

/**
 * Replaces the word `published` in `found` by the problem, if no live worker serves the
 * published version. `found` also says whether the tool is privileged.
 */
function describeServed(found: string, { state }: Serving): string {
  const problem = NOT_SERVED[state];
  return problem === undefined ? found : found.replace('published', problem);
}

/** Creates a function that explains many calls with one catalog and one policy. */
export function createExplainer(
  catalog: Catalog,
  record: PolicyRecord,
  { onlyVerdict = false }: { readonly onlyVerdict?: boolean } = {},
): (asked: Asked) => Explanation {
  const validators = createValidatorCache();
  const tools = indexTools(catalog);
  const readingOf = (tool: ToolDeclaration): ReturnType<typeof readUriArgument> =>
    readUriArgument(tool, {
      validate: (value) => validators.validatorOf(tool.digest, tool.inputSchema)(value),
      fill: (value) => compileDefaults(tool.inputSchema)?.(value) ?? value,
    });
  return (asked) =>
    explainCall(asked, {
      catalog,
      record,
      tools,
      onlyVerdict,
      validate: (tool, value) => readingOf(tool).validate(value),
      fill: (tool, value) => readingOf(tool).fill(value),
      near: nearNames,
      askRules: foreseeRules,
    });
}

function readKnownFile(path: string, warn: ExplainOptions['warn']): PolicyFile | undefined {
  try {
    return readPolicyFile(path, nearNames);
  } catch (error) {
    warn(error);
    return undefined;
  }
}

interface ShownChange {
  readonly command?: string;
  readonly edit?: string;
  readonly snippet?: object;
  readonly note?: string;
}

/** Describes a change as a command to type, if a command can make it; otherwise as what the policy must contain. */
function describeChange(change: PolicyChange): ShownChange {
  switch (change.kind) {
    case 'resume': {
      const target = change.what === 'all' ? 'all' : `${change.what} ${shellWord(change.name)}`;
      return { command: `sallyport pause ${target} --resume` };
    }
    case 'declare': {
      const declaration = shellWord(JSON.stringify(change.declaration));
      const tenant = change.tenant === undefined ? '' : ` --tenant ${shellWord(change.tenant)}`;
      return { command: `printf %s ${declaration} | sallyport agents set ${shellWord(change.agent)} -${tenant}` };
    }
    case 'permit': {
      const snippet = { permissions: { [change.entry]: change.permission } };
      if (change.frees === undefined) return { snippet };
      return { snippet, note: `This lets in everybody whom "${change.frees}" means, not only this subject.` };
    }
    case 'remove-rule':
      return { edit: `change or remove the rule "${change.rule}"`, note: 'It denies other calls too.' };
    case 'add-rule':
      return { snippet: { rules: [change.rule] }, note: 'Add it to the rules that are there.' };
    case 'attend':
      return { edit: `remove ${change.agent} from unattended`, note: 'A person is then asked about such calls.' };
  }
}
