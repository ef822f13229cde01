/** Words that may be guessed and may be hidden: common English words of five letters, our own choice. */
export const WORDS: readonly string[] = `
about above actor adapt admit adult again agent agree alarm album alert alive allow alone amber angel angle
ankle apple april apron arena arise armor avoid award badge baker basic beach begin bench berry birth black
blank blend block board boost brain brave bread brick bring brown brush build cabin cable candy cargo carry
cause chair chalk charm chart cheap chess chest chief choir claim clean clear climb clock cloth cloud coach
coast cocoa coral count cover craft cream crowd crown curve cycle daily dance delay depth diary dozen draft
drama dream dress drink drive eager eagle early earth elbow empty enjoy enter equal error event exact extra
faith fancy feast fence fever field final flame float flood flour flute focus forty frame fresh frost fruit
funny ghost giant glass globe glove grain grape grass green group guard guest guide habit happy heart heavy
honey horse hotel human humor ideal image index ivory jelly jewel joint judge juice knife known label large
laugh layer learn lemon level limit local logic lucky lunch magic maple march medal metal model money month
motor mouse mouth movie music night noble noise north novel nurse ocean offer olive onion orbit order paint
panel paper party peace pearl phone piano pilot pizza plain plant plate point polar power press pride print
proud pupil queen quick quiet radio range rapid reach ready reply river roast robot rough round royal rural
salad scale scene scout sense seven shade sharp sheep shelf shine shirt short skill sleep slope small smile
smoke snake solar solid sound south space speed spice spoon sport staff stage stamp start steam steel stone
storm story sugar sunny sweet table taste thank theme tiger title toast today tooth torch total touch tower
track train treat truck truth twice uncle under unity urban usual value video visit voice wagon waste watch
water whale wheat wheel white woman world worry wrist write young youth zebra`
  .trim()
  .split(/\s+/);
