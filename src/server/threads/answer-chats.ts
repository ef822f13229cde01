import { type RgbImage, Rng } from '../../core/index.ts';
import { fixedViews, generate, preprocess, type VisionLanguageModel } from '../../model/index.ts';
import { readCompletion } from '../../scoring/index.ts';
import type { ChatAnswer, ChatDelta, InferenceTask } from './tasks.ts';
import { conversationSequence } from './user-text.ts';

type ChatTask = Extract<InferenceTask, { kind: 'chat' }>;

/** What a conversation shows of a picture: all of it, or the centre for a model that looks at cuts. */
function shown({ processor }: VisionLanguageModel, image: RgbImage): RgbImage {
  return processor.views === null ? image : fixedViews(image, { ...processor.views, count: 1 })[0]!;
}

/** Answers conversations together. Their texts can hold no control token. */
export async function answerChats(
  model: VisionLanguageModel,
  { conversations, options }: ChatTask,
  signal: AbortSignal,
  emit: (delta: ChatDelta) => void,
): Promise<ChatAnswer[]> {
  const prompts = conversations.map(({ turns, images }) =>
    conversationSequence(
      model,
      turns,
      images.map((image) => preprocess(shown(model, image), model.processor)),
    ),
  );
  const drawn = await generate(model, prompts, {
    maxNewTokens: options.maxNewTokens,
    temperature: options.temperature,
    topP: options.topP,
    rng: new Rng(options.seed).fork('chat'),
    signal,
  });
  return drawn.map(([completion], i): ChatAnswer => {
    const { text, finishReason, tokenIds } = completion!;
    emit({ conversation: i, text });
    return {
      text,
      finishReason,
      promptTokens: prompts[i]!.tokenIds.length,
      completionTokens: tokenIds.length,
      result: readCompletion(completion!),
    };
  });
}
