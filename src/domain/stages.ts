/** The stages of a call, in order. They name folders, spans, log fields, metric labels and error owners. */
export const STAGES = ['call', 'claim', 'identify', 'gate', 'execute', 'settle', 'reply'] as const;
export type Stage = (typeof STAGES)[number];
