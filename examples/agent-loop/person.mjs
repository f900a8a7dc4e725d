// Rita, who looks at what agents want to do. A console or a chat bot does the same; here she says yes to everything.
import { setTimeout as pause } from 'node:timers/promises';
import { renderQuestion } from 'sallyport/client';

const RITA = { kind: 'subject', name: 'default/rita' };

/** Answers questions until `signal` is aborted. */
export async function answerQuestions(client, { signal, say }) {
  while (!signal.aborted) {
    for (const { question } of await client.approvals.list(RITA, { state: 'pending' })) {
      // What is masked may be allowed only by a person who has revealed it; the audit keeps that she did.
      const hidden = renderQuestion(question).masked > 0;
      if (hidden) await client.approvals.reveal(RITA, question.id, { binding: question.binding });
      const shown = renderQuestion(question, { revealed: hidden });
      say('person', `is asked: ${shown.tool} ${shown.arguments.text.replaceAll(/\n */g, ' ')}`);
      say('person', `because:  ${shown.reasons.join(' ')}`);
      say('person', 'allows it, once');
      // Only an answer that names the binding counts: it is of exactly these arguments, and no others.
      const { kind } = await client.approvals.decide(RITA, question.id, {
        decision: 'allow-once',
        binding: question.binding,
      });
      if (kind !== 'decided') say('person', `was too late: ${kind}`);
    }
    await pause(50);
  }
}
