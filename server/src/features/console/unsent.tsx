/**
 * Forms that were sent after their session had ended. The page that answers holds the typed values, and sends them again once the person has signed
 * in and confirmed. Nothing is stored here, and secrets are not repeated.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { paths, returnPath } from '../../web/console-paths.ts'
import { sendPage } from '../../web/document.tsx'
import { Facts } from '../../web/parts/facts.tsx'
import { PlainPage } from './page.tsx'
import { Csrf, HiddenFields, PostForm } from './parts/form.tsx'
import { type Fields, formOf, listOf } from './request-fields.ts'

export interface UnsentForm {
  /** The path of the form, one of our own. */
  readonly action: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** True if values were typed that are not in `fields`. */
  readonly lacksSecrets: boolean
}

/** Tells whether a page that anyone at this browser sees may hold the value of a field. Routes without this function hold none. */
export type KeepsField = (name: string, request: FastifyRequest) => boolean

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly keepsField?: KeepsField
  }
}

/** Keeps all of a form that holds no secret. */
export const KEEPS_ALL: KeepsField = () => true

const ACTION = 'unsent_action'
const FIELDS = 'unsent_fields'
const LACKS_SECRETS = 'unsent_lacks_secrets'

/** Reads the form of a request; undefined where its route holds none. */
export function unsentFormOf(request: FastifyRequest): UnsentForm | undefined {
  const { keepsField } = request.routeOptions.config
  if (!keepsField) return undefined
  const names = Object.keys(formOf(request)).filter((name) => name !== '_csrf')
  // Names may have several values, as boxes do: those of the keys that are revoked with a member.
  const given = names.flatMap((name) => listOf(request, name).map((value) => [name, value] as const))
  const fields = given.filter(([name]) => keepsField(name, request))
  const lacksSecrets = given.some(([name, value]) => value !== '' && !keepsField(name, request))
  return { action: returnPath(request.url), fields, lacksSecrets }
}

/** Reads the form that a sign-in form carries; undefined where it carries none. */
export function carriedForm(values: Fields): UnsentForm | undefined {
  const { [ACTION]: action, [FIELDS]: text } = values
  if (action === undefined || text === undefined) return undefined
  try {
    return {
      action: returnPath(action),
      fields: (JSON.parse(text) as unknown[][]).map(([name, value]) => [String(name), String(value)] as const),
      lacksSecrets: LACKS_SECRETS in values,
    }
  } catch {
    return undefined
  }
}

/** The hidden fields of a sign-in form that `carriedForm` reads. */
export function CarriedForm({ unsent }: { unsent: UnsentForm | undefined }) {
  if (!unsent) return null
  const { action, fields, lacksSecrets } = unsent
  const hidden = [[ACTION, action] as const, [FIELDS, JSON.stringify(fields)] as const]
  return <HiddenFields fields={lacksSecrets ? [...hidden, [LACKS_SECRETS, 'yes']] : hidden} />
}

/** Shows what was typed, for the person to see that it is there. */
export function UnsentValues({ unsent: { fields, lacksSecrets } }: { unsent: UnsentForm }) {
  const rows = fields.filter(([, value]) => value !== '').map(([name, value]) => [name, <code>{value}</code>] as const)
  return (
    <>
      {rows.length > 0 && <Facts rows={rows} />}
      {lacksSecrets && <p>Secrets are not kept: you will be asked for them again.</p>}
    </>
  )
}

/** A form that sends the typed values again. Without `csrf` the person confirms once more: the session that it will have is not known yet. */
export function ResendForm({ unsent, csrf, label }: { unsent: UnsentForm; csrf?: string; label: string }) {
  return (
    <Csrf.Provider value={csrf}>
      <PostForm action={unsent.action} class="actions">
        <HiddenFields fields={unsent.fields} />
        <button type="submit" class={csrf === undefined ? 'quiet' : undefined}>
          {label}
        </button>
        <a class="button quiet" href={paths.home}>
          Discard it
        </a>
      </PostForm>
    </Csrf.Provider>
  )
}

/** Asks a signed-in person whether to send the form. The request came from one of our pages, but from another session. */
export function sendConfirmation(
  reply: FastifyReply,
  unsent: UnsentForm,
  csrf: string,
  status: 200 | 409,
): FastifyReply {
  const page = (
    <PlainPage title="Send your form?">
      <p>You are signed in. Your form is not saved yet.</p>
      <UnsentValues unsent={unsent} />
      <ResendForm unsent={unsent} csrf={csrf} label="Send it" />
    </PlainPage>
  )
  return sendPage(reply, page, status)
}
