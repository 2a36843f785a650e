/** The choice of the sign-in methods that an account keeps with a new password. Those that are not ticked are removed. */
import type { FastifyRequest } from 'fastify'
import { Name, Time } from '../../../web/parts/values.tsx'
import type { LinkedIdentity } from '../../people/identities.ts'
import type { RemainingSignInMethods } from '../../people/new-passwords.ts'
import type { Passkey } from '../../people/passkeys.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { listOf } from '../request-fields.ts'
import { Tick } from './form.tsx'

export interface WaysIn {
  readonly passkeys: readonly Passkey[]
  readonly identities: readonly (LinkedIdentity & { readonly name: string })[]
}

const PASSKEY = 'keep_passkey'
const IDENTITY = 'keep_identity'

export async function waysInOf(
  { passkeys, identities, oidcSignIn }: ConsoleDependencies,
  userId: string,
): Promise<WaysIn> {
  const linked = await identities.list(userId)
  const nameOf = (issuer: string) => (issuer === oidcSignIn?.issuer ? oidcSignIn.name : issuer)
  return {
    passkeys: await passkeys.list(userId),
    identities: linked.map((identity) => ({ ...identity, name: nameOf(identity.issuer) })),
  }
}

/** Reads the sign-in methods that the form ticked. */
export function keptIn(request: FastifyRequest): RemainingSignInMethods {
  return { passkeys: listOf(request, PASSKEY), identities: listOf(request, IDENTITY) }
}

/** Ticks every sign-in method. */
export function allKept({ passkeys, identities }: WaysIn): RemainingSignInMethods {
  return { passkeys: passkeys.map(({ id }) => id), identities: identities.map(({ issuer }) => issuer) }
}

export function KeptWaysIn({ ways: { passkeys, identities }, kept }: { ways: WaysIn; kept: RemainingSignInMethods }) {
  if (passkeys.length + identities.length === 0) return null
  return (
    <fieldset>
      <legend>Which other ways in stay?</legend>
      {passkeys.map((passkey) => (
        <Tick field={PASSKEY} value={passkey.id} isTicked={kept.passkeys.includes(passkey.id)}>
          Passkey <Name of={passkey.name} /> <Dates {...passkey} />
        </Tick>
      ))}
      {identities.map((identity) => (
        <Tick field={IDENTITY} value={identity.issuer} isTicked={kept.identities.includes(identity.issuer)}>
          Sign-in with {identity.name} <Dates {...identity} />
        </Tick>
      ))}
      <p class="help">
        Tick those that are yours. The others are removed: an intruder may have added what you do not know.
      </p>
    </fieldset>
  )
}

function Dates({ createdAt, lastUsedAt }: Pick<Passkey, 'createdAt' | 'lastUsedAt'>) {
  return (
    <small>
      added <Time at={createdAt} />, last used <Time at={lastUsedAt} none="never" />
    </small>
  )
}
