import { Command, Option } from 'commander';
import { explainPolicy, type ExplainedPolicy } from '../../operate/explain-policy.ts';
import type { CheckAnswer, Explanation } from '../../domain/policy/explain-call.ts';
import { UNSERVED } from '../../domain/tool/serving.ts';
import { action, type CommandContext } from '../command-context.ts';
import { describeFailure } from '../describe-failure.ts';
import { asTyped } from '../own-command.ts';
import { EXIT } from '../exit-codes.ts';
import { nameSubject, readIdentity } from '../read-agent.ts';
import { readCallArguments } from '../read-call-arguments.ts';
import { SingleOption } from '../single-option.ts';
import type { Cell } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export function explainCommand(): Command {
  return new Command('explain')
    .description('Say whether an agent may call a tool, which rule decides, and what would have to change')
    .argument('<agent>', 'name of the agent')
    .argument('<tool>', 'module.tool')
    .argument('[arguments]', 'JSON object, @FILE, or @- for standard input')
    .addOption(new SingleOption('--subject <name>', 'for whom it would call (default: local)'))
    .addOption(new SingleOption('--tenant <name>', 'the tenant of the subject (default: default)'))
    .addOption(new Option('--unattended', 'in an unattended session or run'))
    .action(action(explain));
}

async function explain(context: CommandContext, agent: string, tool: string, given?: string): Promise<number> {
  const { terminal } = context;
  const identity = readIdentity(agent, context.options);
  const args = given === undefined ? undefined : await readCallArguments(given);
  return withStore(context, async (store, { config }) => {
    const asked = { tool, identity, ...(args === undefined ? {} : { arguments: args }) };
    const explained = await explainPolicy(store, asked, {
      policyFile: config.policyFile,
      warn: (error) => terminal.warn(`places in the policy file are not told: ${describeFailure(error).message}`),
    });
    if (terminal.json) terminal.printJson(explained);
    else print(context, explained);
    return explained.allowed ? EXIT.ok : EXIT.notOk;
  });
}

const PROVISOS: Readonly<Record<Explanation['verdict'], string>> = {
  allow: '',
  ask: ', once a person has allowed it',
  depends: ', depending on its arguments',
  deny: '',
};

function print({ terminal }: CommandContext, explained: ExplainedPolicy): void {
  const { allowed, verdict, decidedBy, identity, tool, checks, changes, near, policyVersion, serving } = explained;
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
  if (serving?.state === 'unserved') {
    const [module] = tool.split('.', 1);
    terminal.warn(`${tool} is ${UNSERVED}. Start one, or take it out: sallyport catalog withdraw ${module}`);
  }
  if (allowed || decidedBy === 'tool') return;
  if (changes.length === 0) {
    if (decidedBy !== 'arguments') terminal.print(`\n${hopeless(explained)}`);
    return;
  }
  terminal.print(`\nTo allow it:\n`);
  for (const { command, edit, snippet, note } of changes) {
    if (command !== undefined) terminal.print(`  ${asTyped(command)}`);
    if (edit !== undefined) terminal.print(`  ${asTyped('in the policy, then sallyport policy set')}: ${edit}`);
    if (snippet !== undefined)
      terminal.print(`  ${asTyped('in the policy, then sallyport policy set')}: ${JSON.stringify(snippet)}`);
    if (note !== undefined) terminal.print(`    ${note}`);
  }
}

/**
 * The sentence for a call that no change of the policy would allow. A session that was
 * opened unattended stays unattended, whatever the policy says.
 */
function hopeless({ identity, decidedBy }: Explanation): string {
  const isUnattended = identity.unattended === true && decidedBy === 'rules';
  return isUnattended
    ? 'In an attended session a person would be asked. No change of the policy makes this one attended.'
    : 'No change of the policy would allow it.';
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
