/** Verdict rules, version 2. */
export { decideByRules1 as decideByRules2 } from './v1.ts'
