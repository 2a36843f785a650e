/** The error of a plugin that asked for what its manifest does not declare, or the contract does not allow. */

/** The check becomes a `verifier_error`, also when the plugin catches this. */
export class BreachError extends TypeError {
  override readonly name = 'BreachError'
}
