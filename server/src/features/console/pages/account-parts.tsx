/** The lists of the account page: passkeys, the OpenID sign-in, and sessions. */
import { isReservedAddress } from '../../../base/reserved-addresses.ts'
import { confirmPath, paths } from '../../../web/console-paths.ts'
import { type Column, Table, WIDE } from '../../../web/parts/table.tsx'
import { Time } from '../../../web/parts/values.tsx'
import type { Sharing } from '../../people/allowances.ts'
import type { SessionEnds } from '../../people/config.ts'
import type { Passkey } from '../../people/passkeys.ts'
import type { SecondStep } from '../../people/second-steps.ts'
import type { Session, User } from '../../people/sessions.ts'
import type { SignedInBy } from '../../people/sign-in-rules.ts'
import { browserName } from '../browser-name.ts'
import { ButtonForm, Field, RowForm } from '../parts/form.tsx'
import { PasskeyForm } from '../parts/sign-in-methods.tsx'
import type { PasskeyPlace } from '../relying-party.ts'
import { lengthWords } from '../words.ts'

interface NewPasskeyProps {
  readonly place: PasskeyPlace
  readonly isFresh: boolean
}

export function Passkeys({ passkeys, ...props }: NewPasskeyProps & { passkeys: readonly Passkey[] }) {
  return (
    <>
      <h2>Passkeys</h2>
      <p>
        A passkey signs you in with the fingerprint, face or PIN of a device. There is no password that others could
        guess or trick you into telling.
      </p>
      {passkeys.length > 0 && <Table stacks label="Passkeys" columns={PASSKEY_COLUMNS} rows={passkeys} />}
      <NewPasskey {...props} />
    </>
  )
}

const PASSKEY_COLUMNS: readonly Column<Passkey>[] = [
  ['Name', ({ name }) => name, WIDE],
  ['Added', ({ createdAt }) => <Time at={createdAt} />],
  ['Last used', ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" />],
  [
    'Remove',
    ({ id, name }) => (
      <RowForm action={paths.removePasskey} id={id} label={`Remove the passkey ${name}`}>
        Remove
      </RowForm>
    ),
  ],
]

function NewPasskey({ place, isFresh }: NewPasskeyProps) {
  if ('problem' in place) {
    return (
      <p class="notice warning">
        {place.problem} The operator of this service has to set <code>PUBLIC_URL</code> to an https address with a host
        name.
      </p>
    )
  }
  return isFresh ? <AddPasskey /> : <ConfirmFirst>To add a passkey</ConfirmFirst>
}

/** A note in place of a form that needs a sign-in of the last ten minutes. */
export function ConfirmFirst({ children }: { children: string }) {
  return (
    <p>
      {children}, <a href={confirmPath(paths.account)}>confirm that it is you</a>: your sign-in is more than ten minutes
      old.
    </p>
  )
}

/**
 * The part about the second step.
 * @param secondStep undefined if it is off
 */
export function SecondStepState({ secondStep }: { secondStep: SecondStep | undefined }) {
  return (
    <>
      <h2>Second step</h2>
      {secondStep ? (
        <p>
          On since <Time at={secondStep.createdAt} />: after your password you type a code of your authenticator app.{' '}
          {secondStep.codesLeft} recovery codes are left.
        </p>
      ) : (
        <p>Off. With it, signing in needs your password and a code of an app on your phone.</p>
      )}
      <p>
        <a class="button quiet" href={paths.secondStep}>
          {secondStep ? 'Change the second step' : 'Set up a second step'}
        </a>
      </p>
    </>
  )
}

function AddPasskey() {
  return (
    <>
      <p class="help" data-passkey="none">
        To add a passkey, use a browser that supports passkeys, with scripts turned on.
      </p>
      <PasskeyForm action={paths.passkeys} class="form" ceremony="create" options={paths.passkeyOptions}>
        <Field
          name="passkey_name"
          label="Name of a new passkey"
          required
          maxLength={100}
          autocomplete="off"
          help="To tell it from others, such as: work laptop."
        />
        <button type="submit">Add a passkey</button>
      </PasskeyForm>
    </>
  )
}

/**
 * The part about the OpenID provider.
 * @param provider the name of the provider
 */
export function Oidc({ provider, isLinked, isFresh }: { provider: string; isLinked: boolean; isFresh: boolean }) {
  return (
    <>
      <h2>{provider}</h2>
      {isLinked ? (
        <>
          <p>Linked: you can sign in with {provider}.</p>
          <ButtonForm action={paths.unlink} look="danger quiet">
            Unlink {provider}
          </ButtonForm>
        </>
      ) : (
        <>
          <p>Not linked. Link it to sign in with {provider}, too.</p>
          {isFresh ? (
            <ButtonForm action={paths.oidc} fields={{ purpose: 'link' }}>
              Link {provider}
            </ButtonForm>
          ) : (
            <ConfirmFirst>To link it</ConfirmFirst>
          )}
        </>
      )}
    </>
  )
}

const METHOD_WORDS: Readonly<Record<SignedInBy, string>> = {
  password: 'password',
  password_and_code: 'password and code',
  passkey: 'passkey',
  outside: 'provider',
}

/**
 * The list of sessions.
 * @param current the id of the session in which the page is viewed
 */
export function Sessions({
  sessions,
  current,
  ends,
}: {
  sessions: readonly Session[]
  current: string
  ends: SessionEnds
}) {
  const columns: readonly Column<Session>[] = [
    [
      'Browser',
      ({ id, userAgent }) => (
        <>
          {browserName(userAgent)} {id === current && <strong>(this one)</strong>}
        </>
      ),
      { titleOf: ({ userAgent }) => userAgent },
    ],
    ['Address', ({ address }) => address],
    ['Signed in', ({ createdAt }) => <Time at={createdAt} />],
    ['With', ({ method }) => METHOD_WORDS[method]],
    ['Last seen', ({ lastSeenAt }) => <Time at={lastSeenAt} />],
    [
      'End',
      ({ id, userAgent }) =>
        id === current ? (
          <span class="none">by signing out</span>
        ) : (
          <RowForm action={paths.endSession} id={id} label={`End the session of ${browserName(userAgent)}`}>
            End
          </RowForm>
        ),
    ],
  ]
  return (
    <>
      <h2>Sessions</h2>
      <p>
        Where you are signed in. A session ends by itself {lengthWords(ends.idleMs)} after its last request, and{' '}
        {lengthWords(ends.longestMs)} after signing in. An ended session is refused at its next request.
      </p>
      <Table stacks label="Sessions" columns={columns} rows={sessions} />
      {sessions.length > 1 && (
        <ButtonForm action={paths.endOtherSessions} look="danger quiet">
          End all other sessions
        </ButtonForm>
      )}
    </>
  )
}

/** Warns on the account page that mails do not go to the address. */
export function UnconfirmedAddress({ email }: Pick<User, 'email'>) {
  if (isReservedAddress(email)) {
    return (
      <p class="notice warning" role="status">
        Your account has no address any more: it was not confirmed, and a person who reads its mails has it now. You
        sign in as {email}. To get notices, and links to a new password, ask an owner to invite another address of
        yours.
      </p>
    )
  }
  return (
    <>
      <p class="notice warning" role="status">
        Your address is not confirmed: you get no notices, and no link to a new password. Open the link that was mailed
        to {email}.
      </p>
      <ButtonForm action={paths.accountAddress} class="inline">
        Send the link again
      </ButtonForm>
    </>
  )
}

/** Tells with whom the account shares its allowance, if with anybody. */
export function Allowance({ host, guests, email }: Sharing & Pick<User, 'email'>) {
  if (host === null && guests === 0) return null
  return (
    <>
      <h2>Allowance</h2>
      {host === null ? (
        <p>
          {guests === 1 ? 'One account shares' : `${guests} accounts share`} your allowance, invited by you or by your
          guests: the limits of claims, requests, workspaces, invitations and downloads count for all. Where others use
          up a limit, your equal part of it is yours in any case; whom a guest invites counts with the guest. For an
          account to get an allowance, ask the operator to run <code>claimcheck user allowance EMAIL --separate</code>.
        </p>
      ) : (
        <p>
          You share the allowance of <strong>{host}</strong>: the limits of claims, requests, workspaces, invitations
          and downloads count for all who share it. Where others use up a limit, your equal part of it is yours in any
          case; whom you invite counts with you. For an allowance that you share with none but those you invite, ask the
          operator to run <code>claimcheck user allowance {email} --separate</code>.
        </p>
      )}
    </>
  )
}
