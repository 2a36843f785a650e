/** Declares the used parts of the package `pkcs11js`, which only an operator with a token installs: the program is built without it. */
declare module 'pkcs11js' {
  export type Handle = Buffer

  export type Template = readonly { readonly type: number; readonly value?: number | boolean | string | Buffer }[]

  interface Mechanism {
    readonly mechanism: number
  }

  export class PKCS11 {
    load(path: string): void
    C_Initialize(options: { readonly flags: number }): void
    C_GetSlotList(tokenPresent: boolean): Handle[]
    C_GetTokenInfo(slot: Handle): { readonly label: string }
    C_OpenSession(slot: Handle, flags: number): Handle
    C_Login(session: Handle, userType: number, pin: string): void
    C_FindObjectsInit(session: Handle, template: Template): void
    C_FindObjects(session: Handle, maxObjectCount: number): Handle[]
    C_FindObjectsFinal(session: Handle): void
    C_GetAttributeValue(
      session: Handle,
      object: Handle,
      template: Template,
    ): { readonly value: number | boolean | string | Buffer }[]
    C_GenerateKeyPair(
      session: Handle,
      mechanism: Mechanism,
      publicKey: Template,
      privateKey: Template,
    ): { readonly publicKey: Handle; readonly privateKey: Handle }
    C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void
    C_SignAsync(session: Handle, message: Buffer, signature: Buffer): Promise<Buffer>
  }

  export const CKA_CLASS: number
  export const CKA_EC_PARAMS: number
  export const CKA_EC_POINT: number
  export const CKA_EXTRACTABLE: number
  export const CKA_ID: number
  export const CKA_KEY_TYPE: number
  export const CKA_LABEL: number
  export const CKA_PRIVATE: number
  export const CKA_SENSITIVE: number
  export const CKA_SIGN: number
  export const CKA_TOKEN: number
  export const CKA_VERIFY: number
  export const CKF_OS_LOCKING_OK: number
  export const CKF_RW_SESSION: number
  export const CKF_SERIAL_SESSION: number
  export const CKO_PRIVATE_KEY: number
  export const CKO_PUBLIC_KEY: number
  export const CKU_USER: number
}
