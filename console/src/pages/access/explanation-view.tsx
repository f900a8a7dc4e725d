import type { VNode } from 'preact';
import { Badge } from '../../components/badge.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Inert } from '../../components/inert.tsx';
import type { CheckAnswer, Explanation, ShownChange } from './access-types.ts';
import { describeVerdict } from './describe-verdict.ts';
import { VerdictMark } from './verdict-mark.tsx';

export function ExplanationView({ explanation }: { readonly explanation: Explanation }): VNode {
  const { verdict, checks, decidedBy, policyVersion, near } = explanation;
  return (
    <div class="explanation">
      <p class="explanation-verdict">
        <VerdictMark verdict={verdict} /> <Inert text={describeVerdict(explanation)} />
      </p>
      <h3>Checks, in order</h3>
      <ol class="checks">
        {checks.map((answer) => (
          <Check key={answer.check} answer={answer} decides={answer.check === decidedBy} />
        ))}
      </ol>
      <p class="hint">Policy version {policyVersion}.</p>
      {near.length === 0 ? null : (
        <p>
          Did you mean <Inert text={near.join(', ')} />?
        </p>
      )}
      <Changes explanation={explanation} />
    </div>
  );
}

function Check({ answer, decides }: { readonly answer: CheckAnswer; readonly decides: boolean }): VNode {
  const { check, passes, found, rule, place } = answer;
  return (
    <li class={`check-answer${passes ? '' : ' check-refuses'}${decides ? ' check-decides' : ''}`}>
      <span class={`check-sign verdict-${passes ? 'allow' : 'deny'}`}>
        <span aria-hidden="true">{passes ? '✓' : '✕'}</span> {passes ? 'ok' : 'no'}
      </span>
      <span class="check-name">
        <Inert text={check} />
      </span>
      <span class="check-found">
        <Inert text={found} />
        {rule === undefined ? null : (
          <span class="check-rule mono" title={place}>
            <Inert text={`${rule.join(' › ')}${place === undefined ? '' : ` (${fileOf(place)})`}`} />
          </span>
        )}
      </span>
      {decides ? <Badge tone={passes ? 'info' : 'bad'}>decides</Badge> : null}
    </li>
  );
}

/** The file name without its folder, e.g. `policy.yaml:14:3`. The operator knows the folder, and the tooltip shows it. */
function fileOf(place: string): string {
  return place.slice(Math.max(place.lastIndexOf('/'), place.lastIndexOf('\\')) + 1);
}

function Changes({
  explanation: { allowed, decidedBy, changes },
}: {
  readonly explanation: Explanation;
}): VNode | null {
  if (allowed || decidedBy === 'tool') return null;
  if (changes.length === 0) {
    return <p>{decidedBy === 'arguments' ? 'Other arguments would do.' : 'No change of the policy would allow it.'}</p>;
  }
  return (
    <section>
      <h3>{changes.length === 1 ? 'This change would allow it' : 'These changes together would allow it'}</h3>
      <ul class="changes">
        {changes.map((change, index) => (
          <Change key={index} change={change} />
        ))}
      </ul>
    </section>
  );
}

function Change({ change }: { readonly change: ShownChange }): VNode {
  const { command, edit, snippet, note } = change;
  const isPlain = command === undefined && edit === undefined && snippet === undefined;
  return (
    <li>
      {command === undefined ? null : <CodeBlock label="Command" text={command} />}
      {edit === undefined ? null : (
        <p>
          In the policy: <Inert text={edit} />
        </p>
      )}
      {snippet === undefined ? null : (
        <>
          <p>The policy must hold:</p>
          <CodeBlock label="Part of the policy" text={JSON.stringify(snippet, null, 2)} />
        </>
      )}
      {isPlain ? <CodeBlock label="Change" text={JSON.stringify(change, null, 2)} /> : null}
      {note === undefined ? null : (
        <p class="hint">
          <Inert text={note} />
        </p>
      )}
    </li>
  );
}
