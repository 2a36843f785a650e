/** Opens a connection for a check, starts TLS, logs in, and hands it over for the commands that the manifest declares. */
import type { SecretValues } from '../../contract/auth.ts'
import { DestinationError } from '../../contract/destination-error.ts'
import type { CommandGrant, Login, LoginMechanism, Socket, SocketGrant } from '../../contract/socket.ts'
import { BreachError } from '../failures.ts'
import { Conversation, type Handover } from './conversation.ts'
import { beginImap } from './imap.ts'
import { lineGuard } from './lines.ts'
import type { SecretLogin } from './sasl.ts'
import { type Dialed, openRaw, type Pace, type SocketBounds } from './streams.ts'

interface ConnectionRequest {
  readonly grant: CommandGrant
  readonly login: SecretLogin | undefined
}

interface OpenOptions extends ConnectionRequest, SocketBounds {
  /** Begins to connect to the destination. */
  readonly dial: () => Dialed
  /** Starts TLS; undefined where the connection has it already, or is to have none. */
  readonly secure: ((plain: Dialed['socket']) => Dialed) | undefined
  /** Counts bytes before the plugin gets them. @throws DestinationError where a check may read no more */
  readonly received: Pace
  /** Hears that the plugin wrote. */
  readonly written: () => void
  /** Hears of a line that is refused. */
  readonly breached: (breach: BreachError) => void
}

/** Opens a connection as a check asked for it. @throws DestinationError where it cannot be opened, or the login fails */
export async function openSocket(options: OpenOptions): Promise<Socket> {
  const { login, dial, secure } = options
  const raw = await openRaw(dial, options)
  const talk = new Conversation(raw, secure && ((plain) => openRaw(() => secure(plain.socket), options)))
  try {
    await beginImap(talk, login)
  } catch (error) {
    await talk.close()
    throw error
  }
  return toSocket(talk.handOver(), options)
}

function toSocket({ connection, reader, writer, rest }: Handover, options: OpenOptions): Socket {
  const requireLines = lineGuard(options.grant)
  let first = rest
  return {
    // Reads no further than the plugin does.
    readable: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = first.length > 0 ? { done: false, value: first } : await reader.read()
          first = new Uint8Array()
          if (done) return controller.close()
          await options.received(value.length)
          controller.enqueue(value)
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<Uint8Array>({
      async write(chunk) {
        try {
          requireLines(chunk)
        } catch (error) {
          if (error instanceof BreachError) options.breached(error)
          throw error
        }
        options.written()
        await writer.write(chunk)
      },
      close: () => writer.close(),
      abort: (reason) => writer.abort(reason),
    }),
    close: connection.close,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: one would end a command, or a part of a login, and begin another
export const CONTROL = /[\u0000-\u001f\u007f]/

/** The values that a login may name. */
export interface LoginValues {
  readonly secrets: SecretValues
  /** The access token for which a declared credential stands. */
  readonly token?: string
}

/**
 * Reads what a check asks of a socket.
 * @throws BreachError for a connection that the manifest does not allow
 * @throws DestinationError as `secretLogin`
 */
export function connectionRequest(
  grant: SocketGrant,
  login: Login | undefined,
  values: LoginValues,
): ConnectionRequest {
  if ('statements' in grant)
    throw new BreachError('a database is read by `query`: the manifest declares statements for this port')
  return { grant, login: login && secretLogin(login, values) }
}

const MECHANISMS: readonly LoginMechanism[] = ['login', 'plain', 'scram-sha-256', 'xoauth2']

/**
 * Puts the secrets of this check's connection into a login.
 * @throws BreachError for a login that names none, or has another form
 * @throws DestinationError `misconfigured` for a user or a secret that no line can carry
 */
function secretLogin(login: Login, values: LoginValues): SecretLogin {
  if (!MECHANISMS.includes(login.mechanism)) throw new BreachError('login names no mechanism of the contract')
  return { mechanism: login.mechanism, ...fillSecrets(login, values) }
}

/** Puts the secrets into a user and a secret. Throws as `secretLogin`. */
export function fillSecrets({ user, secret }: Pick<Login, 'user' | 'secret'>, { secrets, token }: LoginValues) {
  const value = typeof secret === 'object' ? token : secrets.get(secret)
  if (value === undefined) throw new BreachError("login names no secret option of this check's connection")
  // A user's name stands in a server's log, and in its refusal.
  if (typeof user !== 'string' || user === secret) throw new BreachError('login has no name of a user')
  const name = secrets.get(user) ?? user
  if (CONTROL.test(name) || CONTROL.test(value)) throw new DestinationError('misconfigured')
  return { user: name, secret: value }
}
