/** Makes the headers of a request from the plugin's and the credential, so that neither can change what kind of request is sent. */
import { type Auth, authHeader, type SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { BreachError } from './failures.ts'

/**
 * Headers by which the host alone says where a message ends, who gets it, and what kind of request it is. Some servers take a header for the
 * method: a GET would delete.
 */
const REFUSED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-encoding',
  'cookie',
  'cookie2',
  'date',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
])
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const REFUSED_PREFIXES = ['proxy-', 'sec-', 'x-forwarded-', 'x-original-', 'x-rewrite-']

/**
 * Makes headers. No error repeats a value, which may be a credential.
 *
 * @param userAgent the default for the plugin's own
 * @throws BreachError for headers that a plugin may not set
 * @throws DestinationError `misconfigured` for a secret that no header can carry
 */
export function requestHeaders(
  {
    headers = {},
    auth,
    userAgent,
  }: {
    readonly userAgent: string
    readonly headers?: Readonly<Record<string, string>> | undefined
    readonly auth?: Auth | undefined
  },
  secrets: SecretValues,
): Headers {
  const made = readHeaders(headers)
  for (const name of made.keys()) checkName(name)
  if (auth !== undefined) {
    const { name, value } = credentialHeader(auth, secrets)
    if (made.has(name)) throw new BreachError(`the header ${name} is set twice, by headers and by auth`)
    try {
      made.set(name, value)
    } catch {
      throw new DestinationError('misconfigured')
    }
  }
  if (!made.has('user-agent')) made.set('user-agent', userAgent)
  return made
}

function readHeaders(headers: Readonly<Record<string, string>>): Headers {
  const made = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    // Two spellings of one name would be joined into one value.
    if (HEADER_NAME.test(name) && made.has(name))
      throw new BreachError(`the header ${name.toLowerCase()} is given twice`)
    try {
      made.set(name, value)
    } catch {
      throw new BreachError('a header is not valid')
    }
  }
  return made
}

/** The header that carries a credential. @throws BreachError */
export function credentialHeader(auth: Auth, secrets: SecretValues): ReturnType<typeof authHeader> {
  let made: ReturnType<typeof authHeader>
  try {
    made = authHeader(auth, secrets)
  } catch (error) {
    throw new BreachError((error as Error).message)
  }
  checkName(made.name)
  return made
}

/** Refuses a header that only the host may set. @throws BreachError for such a header */
function checkName(name: string): void {
  if (isForbiddenHeader(name)) throw new BreachError(`a plugin may not set the header ${name}`)
}

export function isForbiddenHeader(name: string): boolean {
  return REFUSED.has(name) || REFUSED_PREFIXES.some((prefix) => name.startsWith(prefix))
}
