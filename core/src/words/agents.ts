/** Says what a receipt tells of its agent beyond the id, in sentences that pages and the command line share. */
import { type AgentNames, agentNames, type ReceiptBody } from '../receipt/body.ts'

const BOUND =
  'The agent is bound: its workspace lets only certain API keys speak for it, and the claim came through one of them.'

/** Sentences about a bound agent; none for an agent that is not bound. */
export function agentSentences(agent: ReceiptBody['agent']): readonly string[] {
  if (agent.bound !== true) return []
  const { pseudonym, domain } = agentNames(agent)
  return [BOUND, ...(pseudonym === undefined ? [] : [pseudonymWords(pseudonym)]), domainWords(domain)]
}

function pseudonymWords(pseudonym: string): string {
  return `Another workspace may have an agent of this name. Receipts of this issuer are of this agent if they have its pseudonym: ${pseudonym}`
}

function domainWords(domain: AgentNames['domain']): string {
  return domain === undefined
    ? 'Nothing here shows whose workspace it is.'
    : `The issuer saw in DNS that ${domain} is the workspace’s own, at most a day before it issued this.`
}
