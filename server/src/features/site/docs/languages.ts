/** The languages in which the documentation has examples. Blocks of these that follow one another say the same, and the reader chooses. */

/** By the name that a block of code has in Markdown. The style sheet has a rule for each. */
export const LANGUAGES = { sh: 'curl', ts: 'TypeScript', python: 'Python' } as const

export type Language = keyof typeof LANGUAGES
