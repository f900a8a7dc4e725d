interface Heading {
  readonly agents: readonly string[];
  readonly policyVersion: number;
}

/**
 * Whether a page of the matrix belongs with the pages read before. Rows of two policies must not be shown together. Cells have no names,
 * only a position in their page's list of agents. Without declared agents, that list comes from recent sessions, so a new session shifts
 * the positions.
 */
export function belongsTo({ agents, policyVersion }: Heading, page: Heading): boolean {
  const isSameList = page.agents.length === agents.length && page.agents.every((agent, at) => agent === agents[at]);
  return isSameList && page.policyVersion === policyVersion;
}
