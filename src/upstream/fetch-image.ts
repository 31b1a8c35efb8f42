export const fetchImage = async (_u: string): Promise<FetchedImage | undefined> => undefined;
export interface FetchedImage {
  bytes: Uint8Array;
  mimeType: string;
  filename: string;
}
