// The one place where the agent's tools are run: a call to the plane, and what the model is told of it.
import { outcomeText, pendingText } from 'sallyport/client';

export function createRunner(client, session, say) {
  /** `key` is the model's own id of the call: a loop that starts again after a crash gets the same answers, and runs nothing twice. */
  return async function run(tool, args, key) {
    say('agent', `${tool} ${JSON.stringify(args)}`);
    const answer = await client.call(session, tool, args, { key });
    // The advice of loop detection is the last line of the text.
    const told = answer.kind === 'pending' ? pendingText(answer) : outcomeText(answer.outcome);
    for (const line of told.split('\n')) say('tool', line);
    return told;
  };
}
