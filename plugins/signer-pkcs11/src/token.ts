/** Ed25519 keys in a PKCS#11 token: found by their label, made there, and used there. A private key never leaves the token. */
import { randomBytes } from 'node:crypto'
import { type BackendKey, keyIdOf } from '@claimcheck/core/plugin'
import type * as Pkcs11 from 'pkcs11js'
import type { TokenSettings } from './messages.ts'

type Library = typeof Pkcs11
type Handle = Pkcs11.Handle

export type Token = ReturnType<typeof openToken>

// Numbers of PKCS #11 3.0, 2.3.4 to 2.3.7, whose names the library, of version 2.40, does not have.
const CKK_EC_EDWARDS = 0x40
const CKM_EC_EDWARDS_KEY_PAIR_GEN = 0x1055
const CKM_EDDSA = 0x1057
/** The curve as PrintableString `edwards25519`. */
const EDWARDS25519 = Buffer.from('130c656477617264733235353139', 'hex')
const PUBLIC_KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** The number of sessions, and so of signatures at a time. */
const SESSIONS = 8
const MOST_KEYS = 1000

interface KeyPair extends BackendKey {
  readonly privateKey: Handle
}

/** Opens the token. @throws Error, a Pkcs11Error for what the module says */
export function openToken(library: Library, { module, token, label, pin }: TokenSettings) {
  const pkcs11 = new library.PKCS11()
  load(pkcs11, module)
  pkcs11.C_Initialize({ flags: library.CKF_OS_LOCKING_OK })
  const slot = slotOf(pkcs11, token)
  const flags = library.CKF_SERIAL_SESSION | library.CKF_RW_SESSION
  const main = pkcs11.C_OpenSession(slot, flags)
  pkcs11.C_Login(main, library.CKU_USER, pin)
  const sessions = createPool(Array.from({ length: SESSIONS }, () => pkcs11.C_OpenSession(slot, flags)))
  let pairs: ReadonlyMap<string, KeyPair> = new Map()

  function find(template: Pkcs11.Template): readonly Handle[] {
    pkcs11.C_FindObjectsInit(main, template)
    try {
      return pkcs11.C_FindObjects(main, MOST_KEYS)
    } finally {
      pkcs11.C_FindObjectsFinal(main)
    }
  }

  const labelled = (kind: number): Pkcs11.Template => [
    { type: library.CKA_CLASS, value: kind },
    { type: library.CKA_KEY_TYPE, value: CKK_EC_EDWARDS },
    { type: library.CKA_LABEL, value: label },
  ]

  /** Joins each private key with the public one of the same CKA_ID. */
  function readPairs(): ReadonlyMap<string, KeyPair> {
    const idOf = (key: Handle) => pkcs11.C_GetAttributeValue(main, key, [{ type: library.CKA_ID }])[0]!.value.toString()
    const privateKeys = new Map(find(labelled(library.CKO_PRIVATE_KEY)).map((key) => [idOf(key), key]))
    const found = find(labelled(library.CKO_PUBLIC_KEY)).flatMap((key): KeyPair[] => {
      const privateKey = privateKeys.get(idOf(key))
      const point = pkcs11.C_GetAttributeValue(main, key, [{ type: library.CKA_EC_POINT }])[0]!.value as Buffer
      return privateKey ? [toPair(publicKeyOf(point), privateKey)] : []
    })
    return new Map(found.map((pair) => [pair.keyId, pair]))
  }

  function pairOf(keyId: string): KeyPair {
    // Another host may have made the key, so the keys are read again.
    if (!pairs.has(keyId)) pairs = readPairs()
    const pair = pairs.get(keyId)
    if (!pair) throw new Error(`the token has no key ${keyId}`)
    return pair
  }

  return {
    keys(): readonly BackendKey[] {
      pairs = readPairs()
      return [...pairs.values()].map(({ keyId, publicKey }) => ({ keyId, publicKey }))
    },
    generate(): BackendKey {
      const { point, privateKey } = generatePair(library, pkcs11, main, label)
      const { keyId, publicKey } = toPair(publicKeyOf(point), privateKey)
      return { keyId, publicKey }
    },
    async sign(keyId: string, message: Uint8Array): Promise<Uint8Array> {
      const { privateKey } = pairOf(keyId)
      return sessions.use((session) => {
        pkcs11.C_SignInit(session, { mechanism: CKM_EDDSA }, privateKey)
        return pkcs11.C_SignAsync(session, Buffer.from(message), Buffer.alloc(SIGNATURE_BYTES))
      })
    },
  }
}

function generatePair(library: Library, pkcs11: Pkcs11.PKCS11, session: Handle, label: string) {
  const common = [
    { type: library.CKA_TOKEN, value: true },
    { type: library.CKA_LABEL, value: label },
    { type: library.CKA_ID, value: randomBytes(16) },
  ]
  const { publicKey, privateKey } = pkcs11.C_GenerateKeyPair(
    session,
    { mechanism: CKM_EC_EDWARDS_KEY_PAIR_GEN },
    [...common, { type: library.CKA_EC_PARAMS, value: EDWARDS25519 }, { type: library.CKA_VERIFY, value: true }],
    [
      ...common,
      { type: library.CKA_PRIVATE, value: true },
      { type: library.CKA_SENSITIVE, value: true },
      { type: library.CKA_EXTRACTABLE, value: false },
      { type: library.CKA_SIGN, value: true },
    ],
  )
  const [point] = pkcs11.C_GetAttributeValue(session, publicKey, [{ type: library.CKA_EC_POINT }])
  return { point: point!.value as Buffer, privateKey }
}

function load(pkcs11: Pkcs11.PKCS11, module: string): void {
  try {
    pkcs11.load(module)
  } catch (cause) {
    const reason = (cause as Error).message
    throw new Error(`the PKCS#11 module does not load, correct the option module: ${reason}`, { cause })
  }
}

function slotOf(pkcs11: Pkcs11.PKCS11, label: string): Handle {
  const slots = pkcs11.C_GetSlotList(true)
  const labels = slots.map((slot) => pkcs11.C_GetTokenInfo(slot).label.trim())
  const slot = slots[labels.indexOf(label)]
  if (!slot) throw new Error(`the module has no token ${label}, but ${labels.filter(Boolean).join(', ') || 'none'}`)
  return slot
}

/** Unwraps a point, which comes as an octet string, or, from some modules, bare. */
function publicKeyOf(point: Buffer): Buffer {
  const isWrapped = point.length === PUBLIC_KEY_BYTES + 2 && point[0] === 0x04 && point[1] === PUBLIC_KEY_BYTES
  if (!isWrapped && point.length !== PUBLIC_KEY_BYTES) throw new Error('the token has a public key of an unknown form')
  return point.subarray(-PUBLIC_KEY_BYTES)
}

function toPair(publicKey: Buffer, privateKey: Handle): KeyPair {
  return { keyId: keyIdOf(publicKey), publicKey, privateKey }
}

/** Lends sessions out, each for one thing at a time. */
function createPool(free: Handle[]) {
  const waiting: ((session: Handle) => void)[] = []
  return {
    async use<T>(work: (session: Handle) => Promise<T>): Promise<T> {
      const session = free.pop() ?? (await new Promise<Handle>((resolve) => waiting.push(resolve)))
      try {
        return await work(session)
      } finally {
        const next = waiting.shift()
        if (next) next(session)
        else free.push(session)
      }
    },
  }
}
