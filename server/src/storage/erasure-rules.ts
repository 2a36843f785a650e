/** The rules for erasing the content of a receipt: a closed list, and the words in which everybody reads it. */

/** Rules that an operator may name. Each completes "Erased because of ...". */
export const OPERATOR_RULES = {
  court_order: 'a court’s order',
  authority_order: 'an order of an authority',
  personal_data: 'personal data in it',
  secret: 'a secret in it',
  workspace_request: 'a request of its workspace',
} as const satisfies Readonly<Record<string, string>>

const RULES = { ...OPERATOR_RULES, retention: 'the retention that its workspace has set' } as const

export type OperatorRule = keyof typeof OPERATOR_RULES
export type ErasureRule = keyof typeof RULES

export function isOperatorRule(text: string): text is OperatorRule {
  return Object.hasOwn(OPERATOR_RULES, text)
}

export function isErasureRule(text: string): text is ErasureRule {
  return Object.hasOwn(RULES, text)
}

/**
 * Says why a receipt was erased.
 * @param reference such as a file number; empty if there is none
 */
export function ruleWords(rule: ErasureRule, reference: string): string {
  return reference === '' ? RULES[rule] : `${RULES[rule]} (${reference})`
}

/** Writes the reference of an erasure by retention. */
export function retentionReference(days: number): string {
  return `${days} days`
}
