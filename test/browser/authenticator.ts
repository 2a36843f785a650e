/** A security device that Chromium plays: it keeps passkeys, and says yes for its owner. */
import type { BrowserContext, Page } from './browser.ts'

export interface Authenticator {
  /** Whether its owner is recognised from now on. */
  recognise(isOwner: boolean): Promise<void>
  /** How often the only passkey on it was used, as it says. */
  setSignCount(count: number): Promise<void>
  passkeys(): Promise<number>
}

export async function addAuthenticator(context: BrowserContext, page: Page): Promise<Authenticator> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const credentials = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    async recognise(isUserVerified) {
      await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
    },
    async setSignCount(signCount) {
      const [credential] = await credentials()
      const { credentialId } = credential!
      await devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId })
      await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: { ...credential!, signCount } })
    },
    passkeys: async () => (await credentials()).length,
  }
}
