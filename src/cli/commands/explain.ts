import { Command } from 'commander';
import { nearNames } from '../../domain/near-names.ts';
import { createValidatorCache } from '../../catalog/validate-arguments.ts';
import { placeOfRule } from '../../config/place-of-rule.ts';
import { readPolicyFile, type PolicyFile } from '../../config/policy-file.ts';
import { explainCall, type CheckAnswer, type Explanation } from '../../domain/explain-call.ts';
import type { PolicyChange } from '../../domain/nearest-change.ts';
import { foreseeRules } from '../../gate/rules/foresee-rules.ts';
import { action, type CommandContext } from '../command-context.ts';
import { describeFailure } from '../describe-failure.ts';
import { EXIT } from '../exit-codes.ts';
import { shellWord } from '../own-command.ts';
import { nameSubject, readIdentity } from '../read-agent.ts';
import { readCallArguments } from '../read-call-arguments.ts';
import { SingleOption } from '../single-option.ts';
import type { Cell } from '../terminal.ts';
import { withStore } from '../with-store.ts';

type Placed = CheckAnswer & { readonly place?: string };

export function explainCommand(): Command {
  return new Command('explain')
    .description('Say whether an agent may call a tool, which rule decides, and what would have to change')
    .argument('<agent>', 'name of the agent')
    .argument('<tool>', 'module.tool')
    .argument('[arguments]', 'JSON object, @FILE, or @- for standard input')
    .addOption(new SingleOption('--subject <name>', 'for whom it would call (default: local)'))
    .addOption(new SingleOption('--tenant <name>', 'the tenant of the subject (default: default)'))
    .action(action(explain));
}

async function explain(context: CommandContext, agent: string, tool: string, given?: string): Promise<number> {
  const { terminal } = context;
  const identity = readIdentity(agent, context.options);
  const args = given === undefined ? undefined : await readCallArguments(given);
  return withStore(context, async (store, { config }) => {
    const [catalog, record] = [await store.readCatalog(), await store.readPolicy()];
    const validators = createValidatorCache();
    const explanation = explainCall(
      { tool, identity, ...(args === undefined ? {} : { arguments: args }) },
      {
        catalog,
        record,
        validate: ({ digest, inputSchema }, value) => validators.validatorOf(digest, inputSchema)(value),
        near: nearNames,
        askRules: foreseeRules,
      },
    );
    const file = config.policyFile === undefined ? undefined : readKnownFile(context, config.policyFile);
    const checks = explanation.checks.map((answer): Placed => {
      const place =
        answer.rule === undefined || file === undefined ? undefined : placeOfRule(file, record.policy, answer.rule);
      return place === undefined ? answer : { ...answer, place };
    });
    if (terminal.json) {
      const changes = explanation.changes.map((change) => ({ ...change, ...describeChange(change) }));
      terminal.printJson({ ...explanation, checks, changes });
    } else print(context, explanation, checks);
    return explanation.allowed ? EXIT.ok : EXIT.notOk;
  });
}

/** The answer comes from the store; a file that cannot be read only means that no lines can be told. */
function readKnownFile({ terminal }: CommandContext, path: string): PolicyFile | undefined {
  try {
    return readPolicyFile(path, nearNames);
  } catch (error) {
    terminal.warn(`places in the policy file are not told: ${describeFailure(error).message}`);
    return undefined;
  }
}

const PROVISOS: Readonly<Record<Explanation['verdict'], string>> = {
  allow: '',
  ask: ', once a person has allowed it',
  depends: ', depending on its arguments',
  deny: '',
};

function print({ terminal }: CommandContext, explanation: Explanation, checks: readonly Placed[]): void {
  const { allowed, verdict, decidedBy, identity, tool, changes, near, policyVersion } = explanation;
  const verb = allowed ? 'may call' : 'may not call';
  const style = { allow: 'green', ask: 'yellow', depends: 'yellow', deny: 'red' } as const;
  terminal.print(`${identity.agent} ${verb} ${tool} for ${nameSubject(identity)}${PROVISOS[verdict]}`, style[verdict]);
  terminal.printTable(
    undefined,
    checks.map(({ check, passes, found, rule, place }): Cell[] => [
      passes ? { text: 'ok', style: 'green' } : { text: 'no', style: 'red' },
      check,
      found,
      check === decidedBy ? `decides${describeRule(check, rule, policyVersion, place)}` : '',
    ]),
  );
  if (near.length > 0) terminal.print(`\nDid you mean ${near.join(', ')}?`);
  if (allowed || decidedBy === 'tool') return;
  if (changes.length === 0) {
    if (decidedBy !== 'arguments') terminal.print('\nNo change of the policy would allow it.');
    return;
  }
  terminal.print(`\nTo allow it:\n`);
  for (const change of changes) {
    const { command, edit, snippet, note } = describeChange(change);
    if (command !== undefined) terminal.print(`  ${command}`);
    if (edit !== undefined) terminal.print(`  in the policy, then sallyport policy set: ${edit}`);
    if (snippet !== undefined) terminal.print(`  in the policy, then sallyport policy set: ${JSON.stringify(snippet)}`);
    if (note !== undefined) terminal.print(`    ${note}`);
  }
}

function describeRule(
  check: CheckAnswer['check'],
  rule: readonly string[] | undefined,
  version: number,
  place: string | undefined,
): string {
  if (check === 'tool' || check === 'arguments' || (check === 'rules' && rule === undefined)) return '';
  if (rule === undefined) return `: policy version ${version} says nothing of it`;
  return `: ${rule.join(' ')} in policy version ${version}${place === undefined ? '' : `, ${place}`}`;
}

interface ShownChange {
  readonly command?: string;
  readonly edit?: string;
  readonly snippet?: object;
  readonly note?: string;
}

/** As something to type, where a command can make it; otherwise as what the policy must hold. */
function describeChange(change: PolicyChange): ShownChange {
  switch (change.kind) {
    case 'resume': {
      const target = change.what === 'all' ? 'all' : `${change.what} ${shellWord(change.name)}`;
      return { command: `sallyport pause ${target} --resume` };
    }
    case 'declare': {
      const declaration = shellWord(JSON.stringify(change.declaration));
      return { command: `printf %s ${declaration} | sallyport agents set ${shellWord(change.agent)} -` };
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
  }
}
