import type { Explanation, MatrixVerdict } from './access-types.ts';

const PROVISOS: Readonly<Record<MatrixVerdict, string>> = {
  allow: '',
  ask: ', once a person has allowed it',
  depends: ', depending on its arguments',
  deny: '',
};

/** The answer in one sentence, in the words of `sallyport explain`. */
export function describeVerdict({ allowed, verdict, identity, tool }: Explanation): string {
  const { tenant, subject, agent } = identity;
  const who = tenant === 'default' ? subject : `${tenant}/${subject}`;
  return `${agent} ${allowed ? 'may' : 'may not'} call ${tool} for ${who}${PROVISOS[verdict]}.`;
}
