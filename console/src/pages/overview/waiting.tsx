import type { VNode } from 'preact';
import { distinguish } from '../../approvals/distinguish.ts';
import { SeverityBadge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { Ago, TimeLeft } from '../../components/time.tsx';
import { pendingQuestions } from '../../pending-count.ts';
import { Panel } from './panel.tsx';

const SHOWN = 6;

/** Questions that wait for a person, oldest first. */
export function Waiting(): VNode {
  const questions = pendingQuestions.value;
  const lines = distinguish(questions);
  return (
    <Panel title="Waiting for a person" count={questions.length} href="/console/approvals" all="All questions">
      {questions.length === 0 ? <p class="hint">No question waits.</p> : null}
      <ul class="overview-list">
        {questions.slice(0, SHOWN).map((question) => (
          <li key={question.id}>
            <a class="mono" href={`/console/approvals/${encodeURIComponent(question.id)}`}>
              <Inert text={question.tool} />
            </a>
            <SeverityBadge severity={question.severity} />
            <span class="overview-detail">
              <Inert text={lines.get(question.id) ?? ''} />
            </span>
            <span class="hint">
              <Inert text={`${question.agent} for ${question.subject}`} />, <Ago at={question.requestedAt} />,{' '}
              <TimeLeft until={question.expiresAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
