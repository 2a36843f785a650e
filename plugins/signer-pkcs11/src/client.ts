/** Asks the token's process, starts it when there is something to ask, and starts it again after a failure. */
import { type ChildProcess, fork } from 'node:child_process'
import type { Logger, SigningBackend } from '@claimcheck/core/plugin'
import type { TokenCall, TokenCalls, TokenFailure, TokenReply, TokenRequest, TokenSettings } from './messages.ts'

/** Each method throws at once while the token was just seen to be away. */
export interface TokenClient extends SigningBackend {
  close(): void
}

interface Pending {
  resolve(answer: never): void
  reject(failure: TokenFailure): void
}

interface Connection {
  call<Call extends TokenCall>(call: Call, request: TokenCalls[Call]['request']): Promise<TokenCalls[Call]['answer']>
  end(): void
}

const PROCESS = new URL('./process.js', import.meta.url)
/** Secrets of the service. The module may need the other variables, such as the path of its configuration. */
const WITHHELD = ['SECRET_KEY', 'SECRET_KEY_ALSO', 'SIGNER_PIN', 'DATABASE_URL', 'SMTP_URL', 'METRICS_TOKEN']
/** Less than a client waits for the answer to a claim. */
const CALL_MS = 5_000
const RETRY_AFTER_MS = 1000

export function createTokenClient(
  settings: TokenSettings,
  { logger }: { readonly logger: Pick<Logger, 'info' | 'warn'> },
): TokenClient {
  const name = `the token ${settings.token}`
  let connection: Connection | undefined
  let failed: { readonly error: Error; readonly isFinal: boolean; readonly at: number } | undefined

  async function call<Call extends TokenCall>(
    method: Call,
    request: TokenCalls[Call]['request'],
  ): Promise<TokenCalls[Call]['answer']> {
    if (failed && (failed.isFinal || performance.now() - failed.at < RETRY_AFTER_MS)) throw failed.error
    connection ??= connect(settings)
    const asked = connection
    try {
      const answer = await asked.call(method, request)
      if (failed) logger.info({}, 'the token signs again')
      failed = undefined
      return answer
    } catch (failure) {
      const { message, isFinal } = failure as TokenFailure
      const advice = isFinal ? '. Correct SIGNER_PIN, and start again: nothing tries this PIN a second time' : ''
      const error = new Error(`${name} does not sign: ${message}${advice}`)
      // Of the calls that fail together, the first says why.
      if (connection === asked) {
        if (!failed) logger.warn({ problem: error.message }, 'the token does not sign: claims wait')
        failed = { error, isFinal, at: performance.now() }
        connection = undefined
        asked.end()
      }
      throw failed?.error ?? error
    }
  }

  return {
    name,
    keys: () => call('keys', {}),
    generate: () => call('generate', {}),
    sign: (keyId, message) => call('sign', { keyId, message }),
    close() {
      connection?.end()
      connection = undefined
    },
  }
}

function connect(settings: TokenSettings): Connection {
  const env = environmentOfModule(process.env)
  // What a module prints is not for anyone's terminal.
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const
  const child = fork(PROCESS, { env, execArgv: [], serialization: 'advanced', stdio: [...stdio] })
  const pending = new Map<number, Pending>()
  let calls = 0

  function settle(id: number): Pending | undefined {
    const found = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) hold(child, false)
    return found
  }

  function fail(message: string): void {
    for (const id of [...pending.keys()]) settle(id)?.reject({ isFinal: false, message })
  }

  let waiting: TokenRequest[] = []

  function send(): void {
    child.send(waiting, (error) => {
      if (error) fail(error.message)
    })
    waiting = []
  }

  child.on('message', (replies: readonly TokenReply[]) => {
    for (const reply of replies) {
      const found = settle(reply.id)
      if ('answer' in reply) found?.resolve(reply.answer as never)
      else found?.reject(reply.failure)
    }
  })
  child.on('error', ({ message }) => fail(message))
  child.on('exit', (code, signal) => fail(`its process ended with ${signal ?? code}`))
  child.send({ settings })
  hold(child, false)

  return {
    call: (name, request) =>
      new Promise((resolve, reject) => {
        const id = ++calls
        const timer = setTimeout(() => settle(id)?.reject({ isFinal: false, message: 'it does not answer' }), CALL_MS)
        pending.set(id, {
          resolve: (answer) => {
            clearTimeout(timer)
            resolve(answer)
          },
          reject: (failure) => {
            clearTimeout(timer)
            reject(failure)
          },
        })
        if (pending.size === 1) hold(child, true)
        if (waiting.push({ id, call: name, ...request } as TokenRequest) === 1) setImmediate(send)
      }),
    end: () => child.kill('SIGKILL'),
  }
}

function environmentOfModule(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !WITHHELD.includes(name)))
}

/** Whether this process goes on for the child's sake. */
function hold(child: ChildProcess, isHeld: boolean): void {
  if (isHeld) {
    child.ref()
    child.channel?.ref()
  } else {
    child.unref()
    child.channel?.unref()
  }
}
