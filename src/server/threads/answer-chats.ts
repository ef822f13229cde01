import { type Completion, type RgbImage, Rng } from '../../core/index.ts';
import {
  type ChatMessage,
  fixedViews,
  type GenerateOptions,
  generate,
  type ProcessedImage,
  type PromptFormat,
  preprocess,
  promptSequence,
  type Sequence,
  type VisionLanguageModel,
} from '../../model/index.ts';
import { readCompletion, streamCompletion } from '../../scoring/index.ts';
import type { ChatAnswer, ChatOptions, ChatTurn, InferenceTask } from './tasks.ts';

type ChatTask = Extract<InferenceTask, { kind: 'chat' }>;

/** What a conversation shows of a picture: all of it, or the centre for a model that looks at cuts. */
function shown({ processor }: VisionLanguageModel, image: RgbImage): RgbImage {
  return processor.views === null ? image : fixedViews(image, { ...processor.views, count: 1 })[0]!;
}

/**
 * A conversation as a prompt whose texts stay text, whatever they spell (`promptSequence`). A turn that is one text
 * is given to the template as a string: those of some models know nothing else.
 */
export function conversationPrompt(
  format: PromptFormat,
  turns: readonly ChatTurn[],
  images: readonly ProcessedImage[],
): Sequence {
  const messages = turns.map(({ role, content }): ChatMessage => {
    const [only] = content;
    return { role, content: content.length === 1 && only?.type === 'text' ? only.text : content };
  });
  return promptSequence(format, messages, images);
}

/**
 * Answers conversations together, or one of them in pieces as they are made. Their texts can hold no control token.
 */
export async function answerChats(
  model: VisionLanguageModel,
  { conversations, options }: ChatTask,
  signal: AbortSignal,
  emit: (text: string) => void,
): Promise<ChatAnswer[]> {
  const prompts = conversations.map(({ turns, images }) =>
    conversationPrompt(
      model,
      turns,
      images.map((image) => preprocess(shown(model, image), model.processor)),
    ),
  );
  const completions = options.stream
    ? [await inPieces(model, prompts[0]!, options, signal, emit)]
    : (await generate(model, prompts, { ...samplingOf(options), signal })).map(([completion]) => completion!);
  return completions.map((completion, i): ChatAnswer => {
    const { text, finishReason, tokenIds } = completion;
    return {
      text,
      finishReason,
      promptTokens: prompts[i]!.tokenIds.length,
      completionTokens: tokenIds.length,
      result: readCompletion(completion),
    };
  });
}

const samplingOf = ({ seed, maxNewTokens, temperature, topP }: ChatOptions): GenerateOptions => ({
  maxNewTokens,
  temperature,
  topP,
  rng: new Rng(seed).fork('chat'),
});

/** Greedy answers come a few tokens at a time, drawn ones in one piece. */
async function inPieces(
  model: VisionLanguageModel,
  prompt: Sequence,
  options: ChatOptions,
  signal: AbortSignal,
  emit: (text: string) => void,
): Promise<Completion> {
  if (options.temperature > 0) {
    const [[completion]] = (await generate(model, [prompt], { ...samplingOf(options), signal })) as [
      [Completion],
    ];
    emit(completion.text);
    return completion;
  }
  const pieces = streamCompletion(model, prompt, { maxNewTokens: options.maxNewTokens, signal });
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return value;
    emit(value);
  }
}
