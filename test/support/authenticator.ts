/** An authenticator app: it shows the codes of a secret. */
import { setTimeout } from 'node:timers/promises'
import { Secret, TOTP } from 'otpauth'
import type { Visitor } from './visitor.ts'

const SECOND_STEP = '/console/account/second-step'

export function codeOf(secret: string, at: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
}

/** Waits until the present code is valid for so long: with it the one before is accepted, too. */
async function untilCodeLasts(ms: number): Promise<void> {
  const leftMs = HALF_MINUTE_MS - (Date.now() % HALF_MINUTE_MS)
  if (leftMs < ms) await setTimeout(leftMs)
}

const HALF_MINUTE_MS = 30_000

export interface App {
  readonly secret: string
  readonly recoveryCodes: readonly string[]
}

/** Sets up a second step on the account page, with the code of the half minute before, so that the present one can still be used. */
export async function setUpSecondStep(visitor: Visitor): Promise<App> {
  const page = await visitor.get(SECOND_STEP)
  const secret = /data-copy="([A-Z2-7]+)"/.exec(page.html)![1]!
  const ticket = /name="ticket" value="([^"]+)"/.exec(page.html)![1]!
  // On a busy machine a request takes seconds.
  await untilCodeLasts(10_000)
  const made = await visitor.post(SECOND_STEP, { ticket, code: codeOf(secret, Date.now() - 30_000) })
  if (made.status !== 201) throw new Error(`${made.status} ${made.html}`)
  return { secret, recoveryCodes: /data-copy="([^"]+)"/.exec(made.html)![1]!.split('\n') }
}
