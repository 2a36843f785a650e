/** Validation against TypeBox schemas, and its findings in the wording that clients of FastAPI services know. */

/** One thing that is wrong with an input: an item of a 422 answer. */
export interface Issue {
  readonly loc: readonly (string | number)[]
  readonly msg: string
  readonly type: string
  readonly ctx?: Readonly<Record<string, unknown>>
  readonly input?: unknown
}
