/** The contexts under which values are sealed. Each names the place of its value: moved to another place, the value does not open. */

/** The context of the text of a mail that waits to be sent. */
export function mailContext(mailId: string): string {
  return `mail:${mailId}`
}

export function secretContext(connectionId: string, name: string): string {
  return `connection:${connectionId}:${name}`
}

/**
 * The context of a refresh token and its results.
 * @param option the option with the refresh token
 */
export function tokensContext(connectionId: string, option: string): string {
  return `connection-tokens:${connectionId}:${option}`
}

export function sourceKeyContext(connectionId: string): string {
  return `connection-source:${connectionId}`
}

/** The context of the secret by which senders of hints prove themselves. */
export function hintContext(address: string): string {
  return `hints:${address}`
}

/** The context of the key for the pseudonyms of a workspace's agents. */
export function agentsKeyContext(workspaceId: string): string {
  return `workspace-agents:${workspaceId}`
}

/** The contexts of the URL and the secrets of a webhook. A rotation moves a secret from one to the other, and seals it anew. */
export function webhookContext(targetId: string, column: 'url' | 'secret' | 'former'): string {
  return `webhook:${targetId}:${column}`
}

export function signingKeyContext(keyId: string): string {
  return `signing-key:${keyId}`
}

export function secondStepContext(userId: string): string {
  return `second-step:${userId}`
}

/** The context of the key of a second step that is being set up, which is in the page alone. */
export function secondStepSetUpContext(userId: string): string {
  return `second-step-set-up:${userId}`
}

/** The context of the digest of a backup's manifest. */
export function backupContext(epoch: string): string {
  return `backup:${epoch}`
}
