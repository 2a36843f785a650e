/** Tells why a trial or a life makes no check. */

export type TrialErrorCode = 'no_plugin' | 'unknown_action' | 'invalid' | 'no_connection' | 'not_here'

/** The error of a plugin, a claim or a connection that a service would refuse. */
export class TrialError extends Error {
  override readonly name = 'TrialError'
  readonly code: TrialErrorCode
  /** The mistakes of an input. No value is repeated, because it may be a credential. */
  readonly issues: readonly { readonly loc: readonly string[]; readonly msg: string }[]

  constructor(code: TrialErrorCode, message: string, issues: TrialError['issues'] = []) {
    super(message)
    this.code = code
    this.issues = issues
  }
}
