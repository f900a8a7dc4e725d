import { RUN_ENDED_ADVICE } from '../../domain/errors/gate-errors.ts';
import type { Finding } from './finding.ts';
import type { BlockScope } from '../../domain/policy/loop-verdict.ts';

/**
 * A name that does not match cannot be a published tool: it is text of the caller. It is not repeated, because inside the advice it would
 * read like text of the plane.
 */
const TOOL_NAME = /^[\w.-]{1,129}$/;
const unknownName = (tool: string): string => (TOOL_NAME.test(tool) ? tool : 'of that name');

/** The warning that the model reads next to the result. It states what happened, how often, and what to do instead. */
export function warningText({ detector, count, period }: Finding, tool: string): string {
  switch (detector) {
    case 'poll':
      return `You have asked ${tool} ${count} times with the same answer, faster than it changes. Wait longer before you ask again, or do something else.`;
    case 'cycle':
      return `Your last ${count} calls repeat the same ${period} calls with the same results. Leave this circle: use what you have, try another way, or say that you are stuck.`;
    case 'same-failure':
      return `${tool} has failed ${count} times in the same way. Other arguments of this kind will not help: read the error, try another way, or say that you are stuck.`;
    case 'any-failure':
      return `The last ${count} calls have all failed. Stop and check what they have in common before you go on, or say that you are stuck.`;
    case 'unknown-tool':
      return `There is no tool ${unknownName(tool)}; you have called it ${count} times. Use the tools you were given, or go on without it.`;
    case 'in-flight':
      return `${count} calls of ${tool} with the same arguments are already under way. Wait for their results.`;
    case 'changing':
      return `You have called ${tool} ${count} times with the same arguments. The results differ; if they do not bring you closer, try another way or say that you are stuck.`;
    case 'same-target':
      return `You have changed the same target with ${tool} ${count} times, with other contents each time. If that does not bring you closer, try another way or say that you are stuck.`;
    case 'session':
      return `Your last runs have repeated the same without progress, ${count} times together. A new run does not change that: use what you have, try another way, or say that you are stuck.`;
    default:
      return `You have called ${tool} ${count} times with the same arguments and got the same result. Calling it again will not change that: use what you have, change the arguments, or say that you are stuck.`;
  }
}

/**
 * The text that the model reads instead of a result. It describes only what was really done: the call, the pattern or the whole run is
 * blocked.
 */
export function blockText(finding: Finding, scope: BlockScope, tool: string): string {
  if (finding.detector === 'ended') {
    return RUN_ENDED_ADVICE;
  }
  const happened = `This call did not run: ${whatHappened(finding, tool)}.`;
  if (scope === 'run') {
    return `${happened} You have gone on after earlier calls were blocked, so this run is ended and nothing runs in it any more. Stop calling tools, and report what you have and what is missing.`;
  }
  return `${happened} ${whatNow(finding, tool)}`;
}

function whatHappened({ detector, count, period }: Finding, tool: string): string {
  switch (detector) {
    case 'poll':
      return `${tool} was asked ${count} times, faster than it changes, and says nothing new`;
    case 'cycle':
      return period === undefined
        ? 'it belongs to a circle of calls that brought nothing new'
        : `your last ${count} calls repeat the same ${period} calls with the same results`;
    case 'same-failure':
      return `${tool} was tried ${count} times and fails in the same way`;
    case 'any-failure':
      return `of the last ${count} calls none has worked`;
    case 'unknown-tool':
      return `there is no tool ${unknownName(tool)}, and you have called it ${count} times`;
    case 'in-flight':
      return `${count} calls of ${tool} with the same arguments are already under way`;
    case 'breaker':
      return `your last calls brought nothing new ${count} times`;
    case 'changing':
      return `${tool} was called ${count} times with the same arguments`;
    case 'session':
      return `your last runs have repeated the same without progress, ${count} times together`;
    default:
      return `${tool} was called ${count} times with the same arguments and brings nothing new`;
  }
}

function whatNow({ detector }: Finding, tool: string): string {
  switch (detector) {
    case 'poll':
      return 'Wait longer, then ask again; or do something else.';
    case 'cycle':
      return 'None of the calls of this circle runs for now. Try another way, or say that you are stuck.';
    case 'same-failure':
      return `${tool} is blocked for now, whatever the arguments. Try another way, or say that you are stuck.`;
    case 'any-failure':
      return 'The tools that failed are blocked for now. Try another one, or say that you are stuck.';
    case 'unknown-tool':
      return 'Use the tools you were given, or go on without it.';
    case 'in-flight':
      return 'Wait for their results; you may call it again after that.';
    default:
      return 'The same call is blocked for now. Do something else, or say that you are stuck.';
  }
}
